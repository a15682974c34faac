import { spawnable } from '../../crew/machine/crew-roster.ts'
import type { AgentSettings } from '../../settings/agent-settings.ts'
import type { Profile } from '../../core/profile/profile.ts'
import type { Leash } from '../../core/work/agent.ts'
import type { Io } from '../../core/io.ts'
import type { Place } from '../../home/place.ts'
import type { Settings } from '../../settings/settings.ts'
import type { AgentWorkspaces } from '../../hub/server/merge/own-workspaces.ts'
import type { FoundHub } from './hub-discovery.ts'
import type { Consent } from '../../native/mcp/mcp-entries.ts'
import type { SupervisedSession, SupervisedSessionState } from '../../crew/machine/supervised-session.ts'
import type { AgentKey } from '../../hub/server/agent-key.ts'
import type { Wiring } from './hub-wiring.ts'
import type { Workflow } from './workflow.ts'
import { defined } from '../../base/defined.ts'
import { collect } from '../../base/process/collect.ts'
import { gitFolders } from '../../base/files/git.ts'
import { projectGit } from '../../base/git/project-git.ts'
import { runGit } from '../../base/git/run-git.ts'
import { newId } from '../../base/id.ts'
import { isAlive, ownerMark, ownerPid } from '../../base/process/owner.ts'
import { say, UsageError, voiceOf } from '../../core/io.ts'
import { readSettings } from '../../settings/settings.ts'
import { keysAt } from '../../hub/server/merge/own-workspaces.ts'
import { findHub, scanSettings } from './hub-discovery.ts'
import { latestSession, sessionStates, sessionsIn } from '../../crew/machine/supervised-session.ts'
import { HeldLock } from '../../store/files/held-lock.ts'
import { findWorkflow, usualWorkflow } from './workflow.ts'
import { nearest } from '../../base/text/nearest.ts'
import { profileNamed, allProfiles } from '../../profiles/all.ts'
import { programOf } from '../../profiles/shared/command-words.ts'
import { confirm } from '../../questions/terminal-questions.ts'
import { bypassFolderProgram } from '../../base/process/program-path.ts'
import { findProgram, hasLogin } from '../../profiles/installed-programs.ts'
import { fileStore } from '../../store/files/file-store.ts'
import { isSecretName } from '../../safety/secret-files.ts'
import { firstCommit, hasCommit, uncommittedFiles } from '../../worktrees/task-branches.ts'
import { homeOf, placeOf } from '../../home/place.ts'
import { slugOf } from '../../home/project.ts'
import { join } from 'node:path'
import { list } from '../../base/text/table.ts'
import { makeFolder, makeFolderHere } from '../../base/files/files.ts'
import { cloneRule } from '../../hub/model/tasks/clone-rules.ts'
import { leashOf } from '../../settings/enabled-agents.ts'
import { profileOf } from '../../settings/agent-settings.ts'
import { withOwnKeys } from '../../core/profile/key-variables.ts'

export type AgentOptions = Consent & {
  start?: string
  as?: string
  resume: boolean
  server?: string
  tmux: boolean
  here: boolean
  /** Whether the work of tasks is pushed to the remote. */
  push: boolean
  /** Whether the agent takes tasks of repositories that it clones itself, and of no project of this machine. */
  clone: boolean
  leash?: string
  capabilities: readonly string[]
  /** The name of this machine at the hub. */
  machineName?: string
}

/** Options that a session stores: it is resumed with them unless others are given. */
type KeptOptions = Partial<Pick<AgentOptions, 'leash' | 'server' | 'capabilities' | 'push' | 'machineName'>>

/** Everything that is known before the agent is started. */
export type SupervisionPlan = {
  place: Place
  settings: Settings
  agent: AgentSettings
  profile: Profile | undefined
  leash: Leash
  workflow: Workflow
  hub: FoundHub
  /** The keys of the workspaces that the agent has or may clone. */
  workspaces: AgentWorkspaces
  /** The patterns of the addresses that the agent may clone; missing if it works in a project of this machine. */
  clones?: readonly string[]
  push: boolean
  capabilities: readonly string[]
  machineName?: string | undefined
  /** The state from an earlier run, or a new one. */
  state: SupervisedSessionState
  /** The lock on the resumed session, so that no other process resumes it too. */
  resumed?: HeldLock | undefined
}

/** The plan with its opened resources; `hubKey` is the agent's key to the hub, in a file for the agent's own programs. */
export type ReadyAgent = SupervisionPlan & {
  session: SupervisedSession
  wiring: Wiring | undefined
  hubKey: AgentKey<string>
}

/** Checks that everything needed to start the agent exists, asks the person for missing things, and reports problems. */
export async function preflight(io: Io, given: AgentOptions): Promise<SupervisionPlan> {
  const place = given.clone ? benchAt(io, given) : await workspaceAt(io, given)
  const found = given.resume ? await sessionBefore(io, place, given) : undefined
  const before = found?.state
  const kept = keptOptions(io, place)
  const options = withKept(given, before && (await kept.read())[before.id])
  const overrides = { env: io.env, leash: options.leash }
  const settings = await readSettings({ home: place.home, project: place.root }, overrides)
  for (const words of settings.warnings) say(io, `termaite: ${words}`)
  const agent = agentNamed(io, settings, options.start ?? before?.agent)
  await readyToStart(io, place, agent, options)
  // The commit is made only now, so that a program which cannot be started leaves no commit behind.
  if (!given.clone) await needCommit(io, place.root, given)
  const workflow = await findWorkflow(io, place, options.as ?? before?.workflow ?? usualWorkflow, options)
  const wired = scanSettings(io, place)
  for (const words of wired.plain) say(io, `termaite: ${words}; everybody who can read that file can use it.`)
  const hub = await findHub(io, place, settings, { ...options, wired: wired.hubs })
  const leash = leashOf(settings, agent)
  const fresh = before ?? freshState(io, place, agent, { workflow: workflow.name, tmux: options.tmux })
  // If a key was made for an agent, it determines the agent's name.
  const named = hub.caller?.role === 'agent' ? { ...fresh, hubId: hub.caller.name } : fresh
  // A session that began in the project itself continues there, and one that is resumed with --here moves there.
  const state = options.here ? { ...named, here: true } : named
  const clones = options.clone ? cloneRulesOf(settings) : undefined
  const workspaces = await keysAt(io, place.root, hub.place.url, clones)
  if (!options.dry) await keepOptions(kept, place, state.id, options)
  return {
    place,
    settings,
    agent,
    profile: profileOf(agent),
    leash,
    workflow,
    hub,
    workspaces,
    clones,
    push: options.push || settings.hub.push === true,
    capabilities: options.capabilities,
    machineName: options.machineName,
    state,
    resumed: found?.lock,
  }
}

/**
 * The options of the sessions of a project. They are stored in the person's home and not with the session, whose file the agent can
 * write: an agent must neither loosen its leash nor choose the hub that gets its key.
 */
const keptOptions = (io: Io, { home, root }: Place) =>
  fileStore(home, voiceOf(io)).doc<Record<string, KeptOptions>>(`projects/${slugOf(root)}/supervised`, {})

/** Stores the options of a session, and removes those of sessions that no longer exist. */
async function keepOptions(
  kept: ReturnType<typeof keptOptions>,
  { root }: Place,
  id: string,
  { leash, server, capabilities, push, machineName }: AgentOptions,
): Promise<void> {
  const there = new Set(sessionStates(root).map((state) => state.id))
  await kept.update((all) => ({
    ...Object.fromEntries(Object.entries(all).filter(([known]) => there.has(known))),
    [id]: defined({ leash, server, capabilities, push, machineName }),
  }))
}

/** The options of this run, completed with the session's options. */
function withKept(given: AgentOptions, kept: KeptOptions = {}): AgentOptions {
  return {
    ...kept,
    ...given,
    capabilities: given.capabilities.length > 0 ? given.capabilities : (kept.capabilities ?? []),
    push: given.push || kept.push === true,
  }
}

/** Finds the session to resume and locks it: from now on no other process can resume it. */
async function sessionBefore(
  io: Io,
  { root }: Place,
  { start, dry }: Pick<AgentOptions, 'start' | 'dry'>,
): Promise<{ state: SupervisedSessionState; lock: HeldLock } | undefined> {
  const tracked = await trackedSessions(io, root)
  const { state: found, warnings } = latestSession(root, start, tracked)
  for (const words of warnings) say(io, `termaite: ${words}`)
  if (!found) {
    say(io, 'termaite: there is no session to resume; a fresh one begins.')
    return undefined
  }
  const folder = join(sessionsIn(root), found.id)
  makeFolderHere(folder)
  const lock = new HeldLock(join(folder, 'resumed.lock'))
  // A dry run leaves nothing behind, so it takes no lock.
  if (!dry && !lock.take()) throw new UsageError(`--resume: another process is resuming ${found.agent} already.`, 1)
  const lives = ({ owner }: SupervisedSessionState) => owner !== '' && owner !== ownerMark() && isAlive(owner)
  const alive = lives(found)
  // A process that turns out to be dead, or that had the session until it was locked, may have written it once more after it was read.
  const state = sessionStates(root).find(({ id }) => id === found.id) ?? found
  if (alive || lives(state)) {
    lock.release()
    throw new UsageError(`--resume: ${state.agent} is already running in process ${ownerPid(state.owner)}.`, 1)
  }
  return { state: { ...state, owner: ownerMark() }, lock }
}

/** Sessions that git tracks came with the repository. */
async function trackedSessions(io: Io, root: string): Promise<Set<string>> {
  const args = ['ls-files', '-z', '--', '.termaite/sessions']
  const { code, out } = await projectGit(io.env).ran(root, args)
  return new Set(
    code === 0
      ? out
          .toString()
          .split('\0')
          .map((path) => path.split('/')[2] ?? '')
      : [],
  )
}

function freshState(
  io: Io,
  { cwd }: Place,
  { name }: AgentSettings,
  { workflow, tmux }: { workflow: string; tmux: boolean },
): SupervisedSessionState {
  const id = newId(io.clock.now())
  return {
    id,
    agent: name,
    workflow,
    lastOutput: '',
    timestamp: '',
    hubId: `${name}-${id.slice(-6)}`,
    terminal: crypto.randomUUID(),
    host: tmux ? 'tmux' : 'pty',
    cwd,
    tokens: 0,
    owner: ownerMark(),
  }
}

/** The folder of an agent that clones the repositories of its tasks: no part of it belongs to a project. */
function benchAt(io: Io, { start, dry }: AgentOptions): Place {
  const home = homeOf(io.env)
  const bench = join(home, 'bench', (start ?? 'agent').replaceAll(/[^\w.-]/g, '-'))
  if (!dry) makeFolder(bench)
  return { home, cwd: bench, root: bench }
}

/** The rules in the settings; by default every address is allowed that encrypts and verifies its server. */
function cloneRulesOf({ hub }: Settings): readonly string[] {
  const rules = hub.clone ?? ['*']
  const strange = rules.find((rule) => cloneRule(rule) === undefined)
  if (strange === undefined) return rules
  throw new UsageError(
    `hub.clone in the settings: found "${strange}", allowed: *, or a host and a path that may end with *, as in github.com/acme/* or https://git.example:8443/*.`,
  )
}

/** Finds the workspace, which is the root of the repository. Offers to run git init in a folder without one. */
async function workspaceAt(io: Io, { yes, dry }: AgentOptions): Promise<Place> {
  const place = placeOf(io)
  if (gitFolders(place.root)) return place
  say(io, `termaite: ${place.root} is not in a git repository. With git each task is a branch to review.`)
  const may = !dry && !yes && io.in.isTTY === true && (await confirm(io, 'Run git init here?', false))
  if (!may) return place
  const { code, err } = await runGit(['init', '-q'], { cwd: place.cwd, env: io.env, person: true })
  if (code !== 0) throw new UsageError(`git init failed: ${err.trim().split('\n').at(-1) ?? ''}`, 1)
  const made = placeOf(io)
  await beginHistory(io, made.root, false)
  return made
}

/** Makes the first commit of a repository that has no commit, for an agent that works in worktrees. */
async function needCommit(io: Io, root: string, { here, resume, yes, dry }: AgentOptions): Promise<void> {
  if (here || resume || dry || !gitFolders(root) || (await hasCommit(io.env, root))) return
  await beginHistory(io, root, yes)
}

/**
 * Makes the first commit of a repository, because the worktree of an agent starts at a commit. Files with keys are left out, unless the
 * person has staged them.
 */
async function beginHistory(io: Io, root: string, yes: boolean): Promise<void> {
  const { staged, others } = await uncommittedFiles(io.env, root)
  const files = others.filter((path) => !isSecretName(path))
  const left = others.filter(isSecretName)
  const all = staged.length + files.length
  const count = all === 1 ? '1 file' : `${all} files`
  const out = left.length === 0 ? '' : ` Files with keys stay out of it: ${list(left, 5)}.`
  const question = `Commit the ${count} in ${root}, so that agents begin with them?${out}`
  const asks = all > 0 && !yes
  if (asks && io.in.isTTY !== true)
    throw new UsageError(
      `${root} has no commit yet, and the branch of each task begins at one. Commit what agents should see, have termaite commit the ${count} with --yes, or let the agent work in the project itself with --here.`,
      1,
    )
  if (asks && !(await confirm(io, question, false)))
    throw new UsageError(
      'nothing was committed, so agents would find no files. Commit what they should see, or let the agent work in the project itself with --here.',
      1,
    )
  await firstCommit(io.env, root, files)
  const told = yes ? out : ''
  say(io, `termaite: made the first commit${all > 0 ? `, with ${count}` : ', which is empty'}.${told}`)
}

/** Finds the agent by its name: one from the settings, or a CLI that runs in a terminal. */
function agentNamed(io: Io, settings: Settings, name: string | undefined): AgentSettings {
  const known = spawnable(settings, io)
  const found = known.find((agent) => agent.name === name)
  if (found) return found
  const screens = allProfiles()
    .filter(({ screen }) => screen)
    .map((profile) => profile.name)
  const names = [...new Set([...known.map((agent) => agent.name), ...screens])]
  if (name === undefined)
    throw new UsageError(`--start: the name of an agent is missing. Allowed: ${names.join(', ')}.`)
  const profile = profileNamed(name)
  if (profile && !isHere(profile.words, io)) throw notFound(profile)
  if (profile && !profile.screen)
    throw new UsageError(`--start: termaite cannot run ${name} in a terminal yet. Allowed: ${names.join(', ')}.`)
  const near = nearest(name, names)
  const meant = near === undefined ? '' : ` Did you mean "${near}"?`
  throw new UsageError(`--start: there is no agent "${name}".${meant} Allowed: ${names.join(', ')}.`)
}

/** Checks that the agent's program is installed and logged in; asks the person if that cannot be determined. */
async function readyToStart(io: Io, place: Place, agent: AgentSettings, consent: Consent): Promise<void> {
  const profile = profileOf(agent)
  if (!profile || agent.kind === 'native') return
  const program = agent.command === undefined ? undefined : programOf(agent.command)
  if (!isHere(program === undefined ? profile.words : [program], io)) throw notFound(profile)
  if (await isLoggedIn(io, place, profile)) return
  const words = `${profile.name} requires login. Run: ${profile.login}`
  // The CLI itself asks for the login once it runs, so the person may start it anyway.
  if (consent.yes || consent.dry) return say(io, `termaite: ${words}`)
  if (io.in.isTTY !== true) throw new UsageError(`${words} (or start it anyway with --yes)`, 1)
  say(io, `termaite: ${words}`)
  if (!(await confirm(io, 'Start it anyway?', false))) throw new UsageError(`${profile.name} was not started.`, 1)
}

const isHere = (words: readonly string[], io: Io) => words.some((word) => findProgram(word, io) !== undefined)

const notFound = ({ name, install }: Profile) => new UsageError(`${name} CLI not found. Install with: ${install}`, 1)

/** How long the check of a login may take: long enough for the slowest CLI to start, short enough for a person to wait. */
const patienceMs = 20_000

async function isLoggedIn(io: Io, { cwd }: Place, profile: Profile): Promise<boolean> {
  if (hasLogin(profile, io.env)) return true
  if (profile.loggedIn === undefined) return false
  const signal = AbortSignal.any([io.signal, AbortSignal.timeout(patienceMs)])
  return (
    (
      await collect('bash', ['-c', bypassFolderProgram(profile.loggedIn, io.env, cwd)], {
        cwd,
        env: withOwnKeys(io.env, profile.keys),
        signal,
      })
    ).code === 0
  )
}
