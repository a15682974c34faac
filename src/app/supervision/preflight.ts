import type { Profile } from '../../core/work/profile.ts'
import type { Io } from '../../core/io.ts'
import type { Place } from '../place.ts'
import type { Settings } from '../../settings/settings.ts'
import type { AgentSettings } from '../../settings/agent-settings.ts'
import { collect } from '../../base/collect.ts'
import { gitFolders, withoutGit } from '../../base/git.ts'
import { nearest } from '../../base/nearest.ts'
import { profileNamed, profiles } from '../../profiles/all.ts'
import { programOf } from '../../profiles/shared/shell-words.ts'
import { confirm } from '../../faces/terminal-questions.ts'
import { findProgram, loginTraces } from '../found.ts'
import { say, UsageError } from '../../core/io.ts'
import { placeOf } from '../place.ts'
import { spawnable } from '../crew/roster.ts'
import { profileOf } from '../../settings/agent-settings.ts'

/** `yes`: nobody is asked. `dry`: nothing is changed. */
export type Wishes = { yes: boolean; dry: boolean }

/** The workspace is the git root; a folder without one may become one, and is used as it is otherwise. */
export async function workspaceAt(io: Io, { yes, dry }: Wishes): Promise<Place> {
  const place = placeOf(io)
  if (gitFolders(place.root)) return place
  say(io, `termaite: ${place.root} is not in a git repository. With git each task is a branch to review.`)
  const may = !dry && !yes && io.in.isTTY === true && (await confirm(io, 'Run git init here?', false))
  if (!may) return place
  const { code, err } = await collect('git', ['init', '-q'], { cwd: place.cwd, env: withoutGit(io.env) })
  if (code !== 0) throw new UsageError(`git init failed: ${err.trim().split('\n').at(-1) ?? ''}`, 1)
  return placeOf(io)
}

/** The agent that is meant: one of the settings, or a CLI that can be run in a terminal. */
export function agentNamed(io: Io, settings: Settings, name: string | undefined): AgentSettings {
  const known = spawnable(settings, io.env)
  const found = known.find((agent) => agent.name === name)
  if (found) return found
  const screens = profiles.filter(({ screen }) => screen).map((profile) => profile.name)
  const names = [...new Set([...known.map((agent) => agent.name), ...screens])]
  if (name === undefined) throw new UsageError(`--start: which agent? ${names.join(', ')}.`)
  const profile = profileNamed(name)
  if (profile && !isHere(profile.words, io)) throw notFound(profile)
  if (profile && !profile.screen) throw new UsageError(`--start: ${name} cannot be run in a terminal by us yet.`)
  const near = nearest(name, names)
  const meant = near === undefined ? '' : ` Did you mean "${near}"?`
  throw new UsageError(`--start: there is no agent "${name}".${meant} Allowed: ${names.join(', ')}.`)
}

/** Whether its program is there and somebody is logged in to it; what cannot be known is asked. */
export async function readyToStart(io: Io, place: Place, agent: AgentSettings, wishes: Wishes): Promise<void> {
  const profile = profileOf(agent)
  if (!profile || agent.kind === 'native') return
  const program = agent.command === undefined ? undefined : programOf(agent.command)
  if (!isHere(program === undefined ? profile.words : [program], io)) throw notFound(profile)
  if (await isLoggedIn(io, place, profile)) return
  const words = `${profile.name} requires login. Run: ${profile.login}`
  // It asks for the login by itself once it runs, so whoever knows better may go on.
  if (wishes.yes || wishes.dry) return say(io, `termaite: ${words}`)
  if (io.in.isTTY !== true) throw new UsageError(`${words} (or start it all the same with --yes)`, 1)
  say(io, `termaite: ${words}`)
  if (!(await confirm(io, 'Start it all the same?', false))) throw new UsageError(`${profile.name} was not started.`, 1)
}

const isHere = (words: readonly string[], io: Io) => words.some((word) => findProgram(word, io.env) !== undefined)

const notFound = ({ name, install }: Profile) => new UsageError(`${name} CLI not found. Install with: ${install}`, 1)

/** Long enough for the slowest CLI to start, short enough for a person to wait. */
const patienceMs = 20_000

async function isLoggedIn(io: Io, { cwd }: Place, profile: Profile): Promise<boolean> {
  if (loginTraces(profile, io.env)) return true
  if (profile.loggedIn === undefined) return false
  const signal = AbortSignal.any([io.signal, AbortSignal.timeout(patienceMs)])
  return (await collect('bash', ['-c', profile.loggedIn], { cwd, env: io.env, signal })).code === 0
}
