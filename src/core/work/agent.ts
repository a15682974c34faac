import type { Clock } from '../../base/time/clock.ts'
import type { Attempt, Entry, Event } from '../talk/entry.ts'
import type { Ref } from '../talk/store.ts'
import type { Answer, Failure } from '../talk/outcome.ts'
import type { Ask } from '../talk/question.ts'
import type { Terminal } from '../screen/terminal.ts'
import type { Budget } from './budget.ts'
import type { InnerWorks } from './inner-work.ts'

/** How much an agent may do: `read` only reads, `ask` asks before it acts, `edit` changes files of the project, `all` does everything. */
export type Leash = 'read' | 'ask' | 'edit' | 'all'
export const leashes: readonly Leash[] = ['read', 'ask', 'edit', 'all']

/** The meaning of each leash, the same for every agent; a CLI may have a more precise description. */
export const leashMeanings: Record<Leash, string> = {
  read: 'read only',
  ask: 'ask before every action',
  edit: 'change files in the project, ask for the rest',
  all: 'everything',
}

/** Returns the one of two leashes that allows less. */
export function tighter(a: Leash, b: Leash): Leash {
  return leashes[Math.min(leashes.indexOf(a), leashes.indexOf(b))]!
}

/**
 * The leash that applies to an agent in a seat. `own` is the leash from its settings. A leash that the person allowed for this seat alone
 * overrides it and the limit of the seat; an agent that a walled one started stays behind that wall, whatever its leash.
 */
export function heldLeash(own: Leash, { leash, allowed, within }: SeatLeash): Leash {
  const held = allowed ?? tighter(own, leash ?? own)
  return within === undefined ? held : tighter(held, 'edit')
}

/** The parts of a seat that determine how much its agent may do. */
export type SeatLeash = Partial<Pick<RosterSeat, 'leash' | 'allowed' | 'within'>>

/**
 * Returns the next leash that really allows the agent more. `means` describes each leash for that agent; it leaves out leashes that the
 * agent cannot enforce.
 */
export function looser(leash: Leash, means: Partial<Record<Leash, string>>): Looser | undefined {
  const next = leashes
    .slice(leashes.indexOf(leash) + 1)
    .find((more) => means[more] !== undefined && means[more] !== means[leash])
  return next && { leash: next, means: means[next]! }
}

/** A looser leash, and what it means for the agent, as text. */
export type Looser = { leash: Leash; means: string }

/** Properties of an agent that shared code asks for instead of its name. */
export type Traits = {
  /** The size of the agent's context window in tokens. */
  window: number
  /** `own`: the agent has its own thread and only needs the entries that it missed. `none`: it gets the whole view. */
  memory: 'none' | 'own'
  /** Whether the agent enforces its leash and can ask before it acts. */
  talks: boolean
  /** Whether text that is typed during a turn reaches the agent. */
  steers: boolean
  /** The company that receives the conversation. Each unknown vendor counts as a different company. */
  vendor?: string
  /** The next looser leash, if there is one. */
  looser?: Looser
  /** The command that logs a person in. */
  login?: string
}

/**
 * Anything that can run a turn: a CLI, a native agent, a rotation of agents, a way of thinking. `turn` never throws; its last event is
 * its only `end`. An Agent runs one turn at a time.
 */
export interface Agent {
  name: string
  traits: Traits
  terminal?: Terminal
  /**
   * Finds out whether the agent could run a turn now; a turn does not require this call. An agent in a terminal opens the terminal and
   * passes the questions of its dialogs on to the person.
   */
  start?(signal: AbortSignal, ask?: Ask): Promise<Failure | undefined>
  /**
   * Starts what the next turn will need, under the very terms that the turn will have, and sends no prompt. Left out if nothing can wait for
   * a turn. Never rejects: a turn that finds nothing prepared starts it itself, and says what went wrong.
   */
  prepare?(next: ForeseenTurn): Promise<void>
  turn(turn: Turn): AsyncIterable<Event>
  /** Stops the agent and every process that it started. */
  close(): Promise<void>
  /** Detaches from an agent that outlives this process, without stopping it. */
  leave?(): Promise<void>
}

/** The form that an answer must have. `check` finds the JSON in an answer, or says why the answer does not conform to the schema. */
export type AnswerForm = {
  schema: Record<string, unknown>
  check(answer: Answer): Promise<{ json: string } | { why: string }>
}

/** The terms that the file of a slash command sets for the turn that it begins: the calls for which it is made, and its model. */
export type CommandTerms = { command: string; from: 'project' | 'user'; tools?: readonly string[]; model?: string }

/** One prompt, and everything that an agent needs to answer it. */
export interface Turn {
  id: string
  prompt: string
  files?: Ref[]
  /** The view of the conversation, fixed at the start of the turn. */
  history: readonly Entry[]
  /** The earlier, failed attempts of this turn. */
  attempts: readonly (Attempt & { by: string })[]
  /** Text that the person typed during the failed attempts: it belongs to the prompt. */
  steered: readonly string[]
  cwd: string
  /** The loosest leash of this turn; an agent may have a tighter one. */
  leash: Leash
  signal: AbortSignal
  clock: Clock
  ask: Ask
  budget: Budget
  /**
   * Returns text that the person typed during the turn; it is stored before it is returned. With a signal, waits for text until the
   * signal aborts. Text that no agent accepts waits for the next turn.
   */
  steer(until?: AbortSignal): Promise<string[]>
  /**
   * Says what the turn waits for, until its next event; a screen shows it once the wait is long enough to notice. With `until` (in
   * ms since 1970) something went wrong and is tried again then: every face shows it, with a countdown.
   */
  waits?(words: string, until?: number): void
  /**
   * Resolves when the work before the turn is done, such as the snapshot of the project. Before that, nothing may be changed and no
   * program started. If this is missing, the turn begins after that work.
   */
  begun?(): Promise<void>
  /** Whether another agent could take over the turn now, if this one failed. If this is missing, there is no other agent. */
  othersFree?(): boolean
  /** The form of the answer, if the person asked for one; the prompt asks for it too. */
  form?: AnswerForm
  /** The terms of the slash command that made the prompt; they only narrow the agent's rights. */
  terms?: CommandTerms
  /** Whether a person watches and wants to be asked if a quota is used up or an agent is silent. */
  attended?: boolean
  /** The part of the prompt that describes this machine; an agent whose own system prompt describes it leaves this part out. */
  machine?: string
  /** The agents that work inside the turn, if a person can stop one of them. */
  inside?: InnerWorks
  /** The mark of a prompt that was already pasted: the agent only watches for its answer. */
  sent?: string
}

/** The facts that are known of a turn before its prompt. */
export type ForeseenTurn = Pick<Turn, 'cwd' | 'leash' | 'history' | 'clock' | 'attended'>

/**
 * Limits of an agent beside its leash: `writes` and `runs` are false if it gets no tool for that, and `scope` names the files and
 * folders of the project that it may change.
 */
export type SeatLimits = { writes?: false; runs?: false; scope?: readonly string[] }

/** How an agent of the roster is opened. */
export type RosterSeat = {
  cwd: string
  /** The folder of the copy of the project that the agent works in; without it the agent works in the project itself. */
  root?: string
  leash: Leash
  /** The key of the agent's own thread to continue. */
  resume?: string
  /** A leash that the person allowed for this seat alone; it overrides every other limit. */
  allowed?: Leash
  /** The terminal for the agent: found by its id if it still runs, otherwise opened with that id. */
  terminal?: { id: string; title?: string; mode?: 'window' | 'pane'; path?: string }
  model?: string
  limits?: SeatLimits
  /** The folder of the walled agent that spawned this one, which also runs behind a wall, in that folder or in a copy of it. */
  within?: string
}

/** The configured agents. `open` is lazy and cannot fail: a problem becomes the failure of a turn. */
export interface Roster {
  names(): string[]
  open(name: string, seat: RosterSeat): Agent
}

/** Which agent the rotation asks first: the one after the agent that answered last, that agent itself, or any. */
export const strategies = ['round-robin', 'exhaustion', 'random', 'measured'] as const
export type Strategy = (typeof strategies)[number]

/**
 * Who runs the turns: the roster (`chat`), the native agent (`agent`), the roster without changing anything (`plan`), or an agent that
 * sends workers (`coordinator`).
 */
export type WorkMode = 'chat' | 'agent' | 'plan' | 'coordinator'
