import type { Env } from '../base/env.ts'
import type { Argv, Enclose } from '../agents/enclosure.ts'
import type { Leash } from '../core/work/agent.ts'
import type { CliFiles, CliPlace } from '../core/profile/profile.ts'
import type { AgentSettings } from '../settings/agent-settings.ts'
import type { Wall, WallLimits } from '../safety/wall/wall.ts'
import { withoutProject } from '../base/process/program-path.ts'
import { promises, statSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { collect } from '../base/process/collect.ts'
import { projectRoot } from '../base/files/git.ts'
import { carries, processTable } from '../base/process/process-table.ts'
import { isWithin, realOrSame } from '../base/files/real-path.ts'
import { markOf } from '../terminals/program/terminal-program.ts'
import { temporary } from '../safety/wall/hidden-places.ts'
import { isPlace } from '../safety/wall/toolchains.ts'
import { isSecretName, isSecretPlace, secretFolders } from '../safety/secret-files.ts'
import { cliPlaces } from '../profiles/all.ts'
import { profileOf } from '../settings/agent-settings.ts'
import { homeOf, isInside } from '../home/place.ts'

/** The parts of this run that a wall around an agent needs. */
type WallParts = {
  env: Env
  /** Whether the agent is only asked for advice. */
  advises?: boolean
  /** Whether the agent only plans. */
  plans?: boolean
  /** The project of the walled agent that started this one. */
  within?: string
  /** Folders that the person added to the project. */
  added?(): readonly string[]
  /** Folders of our own home that the agent may read. */
  readable?(): readonly string[]
}

/**
 * Whether an agent runs behind a wall. Its setting `wall` decides; without the setting, an agent that only advises does, and so does a
 * command without a profile on the leash `read`. Our own agent has walls around its commands instead.
 */
export function needsWall(agent: AgentSettings, { leash, advises }: { leash: Leash; advises?: boolean }): boolean {
  if (agent.kind === 'native') return false
  return agent.wall ?? (advises === true || (leash === 'read' && profileOf(agent) === undefined))
}

const walls = new Map<string, Wall>()

/** The wall of this machine for the programs of an environment, tested once. The program that builds it never comes from the project. */
export async function machineWall(given: Env, cwd: string): Promise<Wall> {
  const { wallOf } = await import('../safety/wall/wall.ts')
  const env = withoutProject(given, cwd)
  const key = `${env.PATH}\0${env.HOME}\0${env.TERMAITE_HOME}`
  const wall = walls.get(key) ?? wallOf({ platform: process.platform, env })
  walls.set(key, wall)
  return wall
}

/** Starts an agent without untrusted files of the project, and behind a wall in each turn that needs one. */
export function wallAround(agent: AgentSettings, parts: WallParts): Enclose {
  const walled = walledIn(agent, parts)
  const profile = profileOf(agent)
  if (agent.kind === 'native' || !profile) return walled
  return async (argv, seat) => {
    if (seat.command) return walled(argv, seat)
    const { answerKeeper, guardedStart } = await import('./guarded-start.ts')
    const keepAnswers = answerKeeper(profile, seat.cwd, homeOf(parts.env))
    const guarded = await guardedStart(argv, { agent, profile, own: homeOf(parts.env) }, seat)
    if ('refused' in guarded) return guarded
    const { vars, fixed, told } = guarded
    const inner = await walled(guarded.argv, { ...seat, env: { ...seat.env, ...vars } })
    if (inner && 'refused' in inner) return inner
    const settle = async () => {
      const removed = (await inner?.settle()) ?? []
      await keepAnswers().catch(() => {})
      return [...told, ...removed]
    }
    return inner ? { ...inner, vars: { ...vars, ...inner.vars }, settle } : { argv: guarded.argv, vars, fixed, settle }
  }
}

/** Puts an agent behind a wall in each of its turns that needs one. */
function walledIn(agent: AgentSettings, parts: WallParts): Enclose {
  return async (argv, { leash, cwd, env, terminal, foreseen }) => {
    if (!needsWall(agent, { leash, advises: parts.advises })) return undefined
    if (foreseen)
      return {
        refused: { kind: 'missing', message: `${agent.name} runs behind a wall, which stands for one turn alone` },
      }
    const none = await (await machineWall(parts.env, cwd)).none()
    if (none !== undefined) return withoutWall(agent, none, parts)
    const { makePrivateHome, settleLeftHomes } = await import('../safety/wall/private-home.ts')
    const own = homeOf(parts.env)
    const homes = join(own, 'walls')
    const found = projectRoot(cwd)
    if (parts.within !== undefined && !isInside(parts.within, { home: own, root: found }))
      return {
        refused: {
          kind: 'missing',
          message: `${agent.name} was not started: ${cwd} leads out of ${parts.within}, and an agent in a sandbox starts others in its own project alone`,
        },
      }
    // A folder of the project can be replaced by a link at any time; the project itself cannot.
    const root = parts.within !== undefined && isWithin(parts.within, found) ? parts.within : found
    const place = { home: env.HOME ?? '', cwd, env }
    const files = profileOf(agent)?.files?.(place)
    const id = terminal ?? crypto.randomUUID()
    const mark = terminal === undefined ? `wall-${id}` : markOf(terminal)
    const home = await makePrivateHome(join(homes, id), { home: place.home, root, mark, files })
    await settleLeftHomes(homes, id, isRunning)
    const { openSeatChannel, seatFile } = await import('../border/seat-channel.ts')
    // An agent that only advises calls no other agent.
    const channel = parts.advises
      ? undefined
      : await openSeatChannel({ env: { ...parts.env, ...ours(env) }, cwd, root, leash })
    const seat = seatFile(join(homes, id))
    await promises.writeFile(seat, channel?.address ?? '', { mode: 0o600 })
    const settle = async () => {
      channel?.close()
      return home.settle()
    }
    const limits: WallLimits = {
      root,
      added: parts.added?.() ?? [],
      project: leash === 'read' ? 'read' : 'write',
      git: leash === 'read' ? 'read' : 'write',
      network: true,
      sockets: leash !== 'read',
      // A CLI may bring its own sandbox, which then runs inside ours.
      nested: profileOf(agent) !== undefined,
      home: place.home,
      // The needs of a command without a profile are unknown.
      whole: files === undefined,
      binds: [...home.binds, { from: seat, to: seatFile(await promises.realpath(own)), write: false }],
      ...ownPlaces(files, [...(parts.readable?.() ?? []), join(own, 'guards')]),
      hidden: foreignPlaces(agent, files, place),
      terminal: terminal !== undefined,
    }
    const { plainGitSettings } = await import('../safety/wall/wall-git-settings.ts')
    const gitSettings = await plainGitSettings({ root, env, own }).catch(() => undefined)
    limits.readable = [
      ...(limits.readable ?? []),
      ...namedPlaces(agent, place.home, await promises.realpath(own)),
      ...(gitSettings ? [dirname(gitSettings)] : []),
    ]
    const { outer, inner } = await signalWords(parts.env)
    const walled = await (await machineWall(parts.env, cwd)).wrap([...inner, ...argv] as Argv, limits)
    if ('none' in walled) {
      await settle()
      return withoutWall(agent, walled.none, parts)
    }
    return {
      argv: [...outer, ...walled.argv] as Argv,
      vars: { TMPDIR: '/tmp', [markName]: mark, ...(gitSettings && { GIT_CONFIG_GLOBAL: gitSettings }) },
      settle: async () => [...(await walled.settle()), ...(await settle())],
    }
  }
}

/**
 * The CLI's own folders, for a wall that cannot show private copies of them, as on macOS: they can be read, and only the sessions and
 * logins can be written. A file that mixes state and settings is then read-only.
 */
function ownPlaces(
  files: CliFiles | undefined,
  readable: readonly string[] = [],
): Pick<WallLimits, 'readable' | 'writable'> {
  if (process.platform !== 'darwin' || !files) return { readable }
  const logins = (files.returned ?? []).flatMap(({ path, keys }) => (keys ? [] : [path]))
  const mixed = (files.returned ?? []).map(({ path }) => path)
  return { readable: [...readable, ...files.folders, ...mixed], writable: [...files.sessions, ...logins] }
}

/**
 * The folders of the files that the person's command names by absolute path, such as a script and the files next to it. Words of a prompt
 * do not count as paths, and neither our own files nor keys are shown.
 */
function namedPlaces(agent: AgentSettings, home: string, own: string): string[] {
  const { command = '', args = [] } = agent.kind === 'native' ? {} : agent
  const words = [command, ...args].flatMap((word) => word.split(/[\s"'=;|&()<>]+/)).filter(isAbsolute)
  const files = words.filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true)
  return files.flatMap((file) => {
    const [folder, real] = [dirname(file), realOrSame(file)]
    if (isWithin(own, real) || isSecretName(real) || isSecretPlace(real, home)) return []
    const holdsKeys = [own, ...secretFolders(home)].some((place) => isWithin(realOrSame(folder), place))
    return isPlace(folder, home) && folder !== temporary && !holdsKeys ? [folder] : [file]
  })
}

/** termaite's own variables for a seat, such as the address of its hub. */
const ours = (env: Env) => Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith('TERMAITE_')))

/** The variable by which a later process knows that a private home is still in use. */
const markName = 'TERMAITE_WALL'

async function isRunning(mark: string): Promise<boolean> {
  const pids = (await processTable()).map(({ pid }) => pid)
  return (await Promise.all(pids.map((pid) => carries(pid, mark)))).some(Boolean)
}

/** An agent whose settings ask for a wall does not run without one. Other agents are restricted by their own flags. */
function withoutWall(agent: AgentSettings, none: string, { plans }: WallParts) {
  if (agent.wall !== true) return undefined
  if (plans) {
    const message = `${agent.name} cannot plan: its command runs as it is written, so only a sandbox keeps it from changing files, and this machine has none: ${none}. Install what is missing, or plan with another agent`
    return { refused: { kind: 'missing' as const, message } }
  }
  const message = `${agent.name} has "wall": true in the settings, but this machine has no sandbox: ${none}. Install what is missing, or remove "wall" from the agent in the settings`
  return { refused: { kind: 'missing' as const, message } }
}

/** The files and folders of all other CLIs: this agent must not see their logins. */
function foreignPlaces(agent: AgentSettings, own: CliFiles | undefined, place: CliPlace): string[] {
  const mine = [...(own?.folders ?? []), ...(own?.returned ?? []).map(({ path }) => path)]
  return cliPlaces(place, profileOf(agent)?.name).filter(
    (folder) => !mine.some((one) => isWithin(folder, one) || isWithin(one, folder)),
  )
}

const passed = 'INT,QUIT,TERM,HUP'

/**
 * The words that begin the command lines outside and inside the wall, so that signals only reach the agent. bubblewrap does not pass a
 * signal on: it would die first, and the agent with it, before the agent could save its thread. The system's `env` must be able to undo
 * the trap.
 */
async function signalWords(env: Env): Promise<{ outer: readonly string[]; inner: readonly string[] }> {
  if (process.platform !== 'linux') return { outer: [], inner: [] }
  const reset = ['/usr/bin/env', `--default-signal=${passed}`]
  signals ??= collect(reset[0]!, [reset[1]!, 'true'], { cwd: '/', env }).then(({ code }) => code === 0)
  if (!(await signals)) return { outer: [], inner: [] }
  return { outer: ['/bin/sh', '-c', `trap '' ${passed.replaceAll(',', ' ')}; exec "$@"`, 'sh'], inner: reset }
}

let signals: Promise<boolean> | undefined
