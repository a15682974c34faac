import type { AgentSettings } from '../../settings/agent-settings.ts'
import type { Profile } from '../../core/profile/profile.ts'
import type { Failure, Outcome } from '../../core/talk/outcome.ts'
import type { Leash } from '../../core/work/agent.ts'
import { leashOf } from '../../settings/enabled-agents.ts'
import type { Health } from '../../turn/rotation/health.ts'
import type { Io } from '../../core/io.ts'
import type { Place } from '../../home/place.ts'
import type { Settings } from '../../settings/settings.ts'
import type { NativeParts } from '../../native/native-parts.ts'
import { AddedFolders } from '../../native/added-folders.ts'
import { collect } from '../../base/process/collect.ts'
import { away } from '../../turn/rotation/health.ts'
import { awayWords } from '../../turn/rotation/no-answer.ts'
import { programWord } from '../../profiles/shared/command-words.ts'
import { shellWord } from '../../base/text/shell-word.ts'
import { openKeys } from '../../safety/api-keys.ts'
import { bypassFolderProgram } from '../../base/process/program-path.ts'
import { findProgram, hasLogin } from '../../profiles/installed-programs.ts'
import { leashWords } from '../../turn/agent-channel.ts'
import { nativeKey } from '../../turn/provider-key.ts'
import { whereabouts, wiredClients } from '../../native/mcp/mcp-entries.ts'
import { profileOf } from '../../settings/agent-settings.ts'
import { newId } from '../../base/id.ts'
import { drain } from '../../base/relay.ts'
import { nobody } from '../../core/talk/question.ts'
import { noBudget } from '../../core/work/budget.ts'
import { take } from '../../core/work/verbs.ts'
import { memoryStore } from '../../store/memory-store.ts'
import { closeNative, newNativeState } from '../../native/native-parts.ts'
import { openProject } from '../../home/project.ts'
import { borderOf } from '../../border/border.ts'
import { needsWall } from '../../native/agent-wall.ts'
import { openRoster } from '../../turn/roster.ts'
import { withOwnKeys } from '../../core/profile/key-variables.ts'

/** The findings about one agent; `works` decides the exit code. */
export type Checkup = {
  name: string
  /** Whether the settings let the agent take turns. A disabled agent is not broken. */
  enabled: boolean
  /** The program's file; a command without a file may still be a function of the shell. */
  installed: string | false
  version?: string
  loggedIn: boolean | 'unknown'
  /** Where the key of our own agent is stored; the key itself is never shown. */
  key?: string
  answers: boolean | 'not asked'
  said?: string
  quota: string
  /** Why the agent takes no turns now, and until when. */
  away?: string
  /** The agent is known to be out of quota. It is not broken, but takes no turns. */
  parked?: true
  /** Whether the agent's own settings name our MCP server. */
  mcp: 'wired' | 'not wired'
  mayDo: string
  next?: string
  works: boolean
}

/** The parts of a checkup; `health` is missing when it could not be read. */
type CheckupParts = { io: Io; place: Place; settings: Settings; health?: Health; quick: boolean }

/** Examines one agent; unless `quick` is set, asks it for one word. */
export async function checkup(parts: CheckupParts, agent: AgentSettings): Promise<Checkup> {
  const { io, settings } = parts
  const profile = profileOf(agent)
  const leash = leashOf(settings, agent)
  const file = fileOf(agent, profile, { env: io.env, cwd: parts.place.cwd })
  const there = file ?? ((await isForShell(parts, agent)) ? 'by the shell' : false)
  const key =
    agent.kind === 'native' ? await nativeKey(agent, openKeys({ home: parts.place.home, env: io.env }), io) : undefined
  const keyless = key && ('next' in key ? key.next : 'why' in key ? key.why : undefined)
  const hindrance = hindranceOf(agent, profile, leash, there !== false) ?? keyless
  const [version, loggedIn, answer] = await Promise.all([
    profile && file ? versionOf(parts, profile) : undefined,
    profile && there !== false ? isLoggedIn(parts, profile, file) : ('unknown' as const),
    hindrance === undefined && mayBeAsked(parts, agent, profile) ? askOneWord(parts, agent) : undefined,
  ])
  const failure = answer?.ok === false ? answer.failure : undefined
  const next = hindrance ?? (failure && nextOf(failure, profile))
  const absent = parts.health && away(parts.health, agent.name, io.clock.now())
  const parked = absent?.as === 'parked' && (answer === undefined || failure?.kind === 'quota')
  return {
    name: agent.name,
    enabled: agent.enabled !== false,
    installed: failure?.kind === 'missing' ? (file ?? false) : there,
    version,
    loggedIn: answer?.ok ? true : key ? keyless === undefined : loggedIn,
    key: key && 'place' in key ? key.place : undefined,
    answers: answer?.ok ?? 'not asked',
    said: failure?.message,
    quota: quotaWords(parts, agent.name, answer?.ok === true),
    away: absent && !answer?.ok ? awayWords(absent, io.clock.now()) : undefined,
    ...(parked ? { parked } : {}),
    mcp: wiredClients(whereabouts(io.env)).some(({ client }) => client.name === profile?.name) ? 'wired' : 'not wired',
    mayDo: leashWords(agent, leash),
    next,
    works: hindrance === undefined && (answer?.ok ?? (loggedIn !== false && !parked)),
  }
}

/**
 * Says why an agent cannot be used on this machine, and what to do about it: its program is missing, its key, or perhaps its login.
 * Asks no agent.
 */
export async function agentHindrance(
  parts: Pick<CheckupParts, 'io' | 'place' | 'settings'>,
  agent: AgentSettings,
): Promise<string | undefined> {
  const { io, place, settings } = parts
  if (agent.kind === 'native') {
    const key = await nativeKey(agent, openKeys({ home: place.home, env: io.env }), io)
    return key && ('next' in key ? key.next : 'why' in key ? key.why : undefined)
  }
  const profile = profileOf(agent)
  const file = fileOf(agent, profile, { env: io.env, cwd: place.cwd })
  const isThere = file !== undefined || (await isForShell({ io, place, settings, quick: true }, agent))
  const why = hindranceOf({ ...agent, enabled: true }, profile, leashOf(settings, agent), isThere)
  if (why !== undefined) return isThere ? why : `not installed; ${why}`
  return profile && !hasLogin(profile, io.env) ? `no login found; if it is not logged in: ${profile.login}` : undefined
}

function fileOf(agent: AgentSettings, profile: Profile | undefined, at: Pick<Io, 'env' | 'cwd'>): string | undefined {
  if (agent.kind === 'native') return 'built in'
  const program = agent.command === undefined ? profile?.words[0] : programWord(agent.command)
  return program === undefined ? undefined : findProgram(program.replace(/^~(?=\/)/, at.env.HOME ?? '~'), at)
}

/** A command that is one program with arguments: no lists, no functions, no words that the shell expands. */
const plainCommand = /^[^;|&(){}`\n]*$/
const plainWord = /^[\w.+/~][\w.+/~-]*$/

/**
 * Whether a command whose program is not a file may still be one for the shell. A turn would show that; if the checkup is quick and the
 * command is plain, the shell is asked whether it knows the program as a builtin or a function.
 */
async function isForShell(parts: CheckupParts, agent: AgentSettings): Promise<boolean> {
  if (agent.kind === 'native' || agent.command === undefined) return false
  const program = programWord(agent.command)
  if (!parts.quick || program === undefined || !plainCommand.test(agent.command) || !plainWord.test(program))
    return true
  if (agent.args !== undefined) return false
  const { io, place } = parts
  const { code } = await collect('bash', ['-c', `type -- ${shellWord(program)}`], {
    cwd: place.cwd,
    env: { ...io.env, ...agent.env },
    signal: AbortSignal.any([io.signal, AbortSignal.timeout(patienceMs)]),
  })
  return code === 0
}

/** Says why an agent gets no turns regardless of its health, and what to do about it. */
function hindranceOf(agent: AgentSettings, profile: Profile | undefined, leash: Leash, there: boolean) {
  if (agent.enabled === false) return 'set "enabled" to true with termaite config edit, if this agent is to take turns'
  if (!there) return profile ? `install it: ${profile.install}` : commandHint
  if (agent.kind !== 'native' && agent.command === undefined && profile?.leashes[leash] === undefined)
    return `the CLI cannot be restricted to the leash "${leash}": give it the leash "all" if you trust it with that`
  return undefined
}

/** Whether an agent may be asked. A checkup must change nothing, so an agent that cannot be limited to reading is not asked. */
function mayBeAsked({ quick }: CheckupParts, agent: AgentSettings, profile: Profile | undefined): boolean {
  return !quick && (agent.kind === 'native' || agent.command !== undefined || profile?.leashes.read !== undefined)
}

function nextOf(failure: Failure, profile: Profile | undefined): string | undefined {
  if (failure.kind === 'auth' && profile) return `log in: ${profile.login}`
  if (failure.kind === 'quota') return 'wait until its quota renews; other agents take the turns meanwhile'
  return failure.kind === 'missing' && !profile ? commandHint : undefined
}

const commandHint = 'check its command with: termaite config edit'

function quotaWords({ health, io }: CheckupParts, name: string, answered: boolean): string {
  if (!health) return 'not known'
  const now = io.clock.now()
  const absent = away(health, name, now)
  if (!absent) return 'none known to be spent'
  const words = awayWords(absent, now)
  return answered
    ? `was ${words}; ${name} answers again, so it takes turns again from now on`
    : `${words}; ${name} takes turns again after that, or as soon as it answers termaite doctor`
}

/** The slowest CLI prints its version within this time, and a person is still willing to wait that long. */
const patienceMs = 20_000

function shell({ io, place }: CheckupParts, command: string, { keys }: Profile) {
  const signal = AbortSignal.any([io.signal, AbortSignal.timeout(patienceMs)])
  return collect('bash', ['-c', bypassFolderProgram(command, io.env, place.cwd)], {
    cwd: place.cwd,
    env: withOwnKeys(io.env, keys),
    signal,
  })
}

async function versionOf(parts: CheckupParts, profile: Profile): Promise<string | undefined> {
  const { out, code } = await shell(parts, profile.version, profile)
  return code === 0 ? out.toString('utf8').trim().split('\n')[0] : undefined
}

async function isLoggedIn(parts: CheckupParts, profile: Profile, file?: string): Promise<boolean | 'unknown'> {
  if (profile.loggedIn && file) return (await shell(parts, profile.loggedIn, profile)).code === 0
  return hasLogin(profile, parts.io.env) || 'unknown'
}

const timeoutSeconds = 60

/**
 * Asks an agent for one word, limited to reading, in a turn that is not stored. The sandbox is the one of its ordinary turns, so that the
 * doctor finds the same problems as a turn.
 */
async function askOneWord(
  { io, place, settings }: { io: Io; place: Place; settings: Settings },
  agent: AgentSettings,
): Promise<Outcome> {
  const short = { timeoutSeconds, silenceSeconds: timeoutSeconds }
  const wall = needsWall(agent, { leash: leashOf(settings, agent) })
  // The doctor reports the current state: it does not wait until a provider is free again.
  const patient = agent.kind === 'native' ? { ...agent, retrySeconds: 5 } : agent
  const alone = { ...settings, ...short, metaInstruction: undefined, agents: [{ ...patient, ...short, wall }] }
  const store = memoryStore()
  const blobs = store.blobs('doctor')
  const native: NativeParts = {
    ...place,
    env: io.env,
    clock: io.clock,
    store,
    blobs,
    session: 'doctor',
    project: openProject(store, place.root).doc,
    border: borderOf(io.env, place.home),
    folders: new AddedFolders(),
    state: newNativeState(),
  }
  const roster = openRoster(alone, {
    blobs,
    env: io.env,
    changed: async () => false,
    border: native.border,
    native,
    io,
  })
  const seat = roster.open(agent.name, { cwd: place.cwd, leash: 'read' })
  const turn = {
    id: newId(io.clock.now()),
    prompt: 'Reply with the single word OK.',
    history: [],
    attempts: [],
    steered: [],
    cwd: place.cwd,
    leash: 'read' as const,
    signal: io.signal,
    clock: io.clock,
    ask: nobody,
    budget: noBudget,
    steer: async () => [],
  }
  try {
    return await drain(take(seat, turn))
  } finally {
    await seat.close()
    await closeNative(native)
  }
}
