import type { Health } from '../../mind/health.ts'
import type { AgentSettings, Settings } from '../settings/settings.ts'
import type { Parsed } from '../args.ts'
import type { Io } from '../io.ts'
import type { Place } from '../place.ts'
import { run as runCommand } from '../../base/run.ts'
import { newId } from '../../base/id.ts'
import { nobody } from '../../core/talk/question.ts'
import { noBudget } from '../../core/work/budget.ts'
import { outcomeOf, take } from '../../core/work/verbs.ts'
import { away, noHealth } from '../../mind/health.ts'
import { programOf } from '../../profiles/words.ts'
import { fileStore } from '../../store/files/store.ts'
import { memoryStore } from '../../store/memory.ts'
import { findProgram, loginTraces } from '../found.ts'
import { print, say, UsageError } from '../io.ts'
import { placeOf } from '../place.ts'
import { openRoster, profileOf } from '../roster.ts'
import { securityReport } from '../security.ts'
import { readSettings } from '../settings/settings.ts'
import { moment } from '../table.ts'

/** What is known of one agent; `works` is what the exit code is made of. */
type Checkup = {
  name: string
  installed: string | false
  version?: string
  loggedIn: boolean | 'unknown'
  answers: boolean | 'not asked'
  said?: string
  quota: string
  mcp: 'not wired'
  mayDo: string
  next?: string
  works: boolean
}

const answerSeconds = 60

export async function run(io: Io, { values, words }: Parsed): Promise<number> {
  const place = placeOf(io)
  const settings = await readSettings({ home: place.home, project: place.root }, { env: io.env })
  if (values.security) return securityReport(io, place, settings, values.json === true)
  if (settings.agents.length === 0)
    throw new UsageError(
      'no agent is configured yet. Run `termaite setup`, or `termaite demo` to see it work without any.',
    )
  const wanted = words[0] === undefined ? settings.agents : settings.agents.filter(({ name }) => name === words[0])
  if (wanted.length === 0)
    throw new UsageError(
      `there is no agent "${words[0]}"; configured: ${settings.agents.map(({ name }) => name).join(', ')}.`,
    )
  const health = await fileStore(place.home, { clock: io.clock }).doc<Health>('health', noHealth).read()
  if (!values.quick && !values.json)
    say(
      io,
      `Asking ${wanted.length === 1 ? wanted[0]!.name : `${wanted.length} agents`} for one word each; --quick leaves that out.`,
    )
  const checkups = await Promise.all(
    wanted.map((agent) => checkup(io, place, settings, agent, health, values.quick === true)),
  )
  if (values.json) print(io, JSON.stringify(checkups))
  else print(io, checkups.map(report).join('\n\n'))
  return checkups.some(({ works }) => works) ? 0 : 1
}

async function checkup(
  io: Io,
  place: Place,
  settings: Settings,
  agent: AgentSettings,
  health: Health,
  quick: boolean,
): Promise<Checkup> {
  const profile = profileOf(agent)
  const program = agent.command === undefined ? profile?.words[0] : programOf(agent.command)
  const installed = (program && findProgram(program, io.env)) || false
  const leash = agent.leash ?? settings.leash
  const parked = away(health, agent.name, io.clock.now())
  const base = {
    name: agent.name,
    quota: parked ? `${parked.as} until ${moment(parked.until)}` : 'none known to be spent',
    mcp: 'not wired' as const,
    mayDo:
      agent.command === undefined
        ? `${leash}: ${profile?.leashes[leash] ?? 'it cannot be held to this'}`
        : 'own flags: the command runs as it is written',
  }
  if (agent.kind === 'native')
    return {
      ...base,
      installed: false,
      loggedIn: 'unknown',
      answers: 'not asked',
      next: 'the native agent is not in this version; it is left out of the rotation',
      works: false,
    }
  // A shell function or a keyword is no file: only the turn itself can tell.
  if (
    !installed &&
    (agent.command === undefined || !/[;&|(){}]|^\s*(?:export|cat|echo|if|while|for)\b/.test(agent.command))
  )
    return {
      ...base,
      installed: false,
      loggedIn: 'unknown',
      answers: 'not asked',
      next: profile ? `install it: ${profile.install}` : `${program} is not on the PATH`,
      works: false,
    }
  const [version, loggedIn, answer] = await Promise.all([
    profile && installed ? firstLine(io, place, profile.version) : undefined,
    profile?.loggedIn && installed
      ? exitsWell(io, place, profile.loggedIn)
      : profile
        ? loginTraces(profile, io.env) || ('unknown' as const)
        : ('unknown' as const),
    quick || agent.enabled === false ? undefined : answers(io, place, settings, agent),
  ])
  const failure = answer && !answer.ok ? answer.failure : undefined
  return {
    ...base,
    installed: installed || 'by the shell',
    ...(version === undefined ? {} : { version }),
    loggedIn: answer?.ok ? true : loggedIn,
    answers: answer === undefined ? 'not asked' : answer.ok,
    ...(failure ? { said: failure.message } : {}),
    ...(failure?.kind === 'auth' && profile ? { next: `log in: ${profile.login}` } : {}),
    works: answer === undefined ? loggedIn !== false && agent.enabled !== false : answer.ok,
  }
}

async function answers(io: Io, place: Place, settings: Settings, agent: AgentSettings) {
  const short = {
    ...settings,
    metaInstruction: undefined,
    timeoutSeconds: answerSeconds,
    silenceSeconds: answerSeconds,
    agents: [{ ...agent, timeoutSeconds: answerSeconds }],
  }
  const roster = openRoster(short, { blobs: memoryStore().blobs('doctor'), env: io.env, changed: async () => false })
  const seat = roster.open(agent.name, { cwd: place.cwd, leash: 'read' })
  const turn = {
    id: newId(io.clock.now()),
    prompt: 'Reply with the single word OK.',
    history: [],
    attempts: [],
    cwd: place.cwd,
    leash: 'read' as const,
    signal: io.signal,
    clock: io.clock,
    ask: nobody,
    budget: noBudget,
    steer: async () => [],
  }
  try {
    return await outcomeOf(take(seat, turn))
  } finally {
    await seat.close()
  }
}

/** Long enough for the slowest CLI to say its version, short enough for a person to wait. */
const patienceMs = 20_000

function shell(io: Io, place: Place, command: string) {
  const signal = AbortSignal.any([io.signal, AbortSignal.timeout(patienceMs)])
  return runCommand('bash', ['-c', command], { cwd: place.cwd, env: io.env, signal })
}

async function firstLine(io: Io, place: Place, command: string): Promise<string | undefined> {
  const { out, code } = await shell(io, place, command)
  return code === 0 ? out.toString('utf8').trim().split('\n')[0] : undefined
}

async function exitsWell(io: Io, place: Place, command: string): Promise<boolean> {
  return (await shell(io, place, command)).code === 0
}

function report(checkup: Checkup): string {
  const rows = [
    [
      'installed',
      checkup.installed === false ? 'no' : `${checkup.installed}${checkup.version ? ` (${checkup.version})` : ''}`,
    ],
    ['logged in', checkup.loggedIn === 'unknown' ? 'not known' : checkup.loggedIn ? 'yes' : 'no'],
    ['answers', checkup.answers === 'not asked' ? 'not asked' : checkup.answers ? 'yes' : `no: ${checkup.said ?? ''}`],
    ['quota', checkup.quota],
    ['MCP', checkup.mcp],
    ['may do', checkup.mayDo],
    ...(checkup.next ? [['next', checkup.next]] : []),
  ]
  return [
    `${checkup.works ? '✓' : '✗'} ${checkup.name}`,
    ...rows.map(([name, words]) => `    ${name!.padEnd(10)} ${words}`),
  ].join('\n')
}
