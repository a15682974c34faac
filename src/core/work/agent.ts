import type { Clock } from '../../base/clock.ts'
import type { Attempt, Entry, Event } from '../talk/entry.ts'
import type { Ref } from '../talk/store.ts'
import type { Failure } from '../talk/outcome.ts'
import type { Ask } from '../talk/question.ts'
import type { Terminal } from '../screen/terminal.ts'
import type { Budget } from './budget.ts'

/** How much an agent may do: look · act after a yes · change files in the project · everything. */
export type Leash = 'read' | 'ask' | 'edit' | 'all'
export const leashes: readonly Leash[] = ['read', 'ask', 'edit', 'all']

/** The one of two that allows less. */
export function tighter(a: Leash, b: Leash): Leash {
  return leashes[Math.min(leashes.indexOf(a), leashes.indexOf(b))]!
}

/** The next leash that allows more in fact, of those an agent can be held to, with what it means for that agent. */
export function looser(leash: Leash, means: Partial<Record<Leash, string>>): Looser | undefined {
  const next = leashes
    .slice(leashes.indexOf(leash) + 1)
    .find((more) => means[more] !== undefined && means[more] !== means[leash])
  return next && { leash: next, means: means[next]! }
}

export type Looser = { leash: Leash; means: string }

export type Traits = {
  window: number
  /** Who remembers what was said: the conversation alone, or the agent's own thread as well. */
  memory: 'none' | 'own'
  /** Whether it can be held to its leash and can ask before it acts. */
  talks: boolean
  /** Whether text typed meanwhile reaches it. */
  steers: boolean
  /** Who learns what it is told; unknown counts as a vendor of its own. */
  vendor?: string
  /** How its seat could be loosened, by one step. */
  looser?: Looser
  /** What a person types to log it in. */
  login?: string
}

/**
 * Whatever can take a turn. `turn` never throws; it yields exactly one `end`, last.
 * One turn at a time: one Agent is one seat.
 */
export interface Agent {
  name: string
  traits: Traits
  terminal?: Terminal
  /** Whether it could take a turn now; not needed before one. One in a terminal opens it, and asks what its dialogs ask. */
  start?(signal: AbortSignal, ask?: Ask): Promise<Failure | undefined>
  turn(turn: Turn): AsyncIterable<Event>
  /** Ends it, and whatever it started. */
  close(): Promise<void>
  /** Lets go of it without ending it, where it outlives us. */
  leave?(): Promise<void>
}

export interface Turn {
  id: string
  prompt: string
  files?: Ref[]
  /** The view, fixed when the turn started. */
  history: readonly Entry[]
  /** What was tried in this turn before, and failed. */
  attempts: readonly (Attempt & { by: string })[]
  /** What was typed while they tried, and given to them: it belongs to the prompt. */
  steered: readonly string[]
  cwd: string
  /** What nobody goes beyond in this turn; an agent may be held tighter. */
  leash: Leash
  signal: AbortSignal
  clock: Clock
  ask: Ask
  budget: Budget
  /**
   * Text typed meanwhile, kept before it is handed over: what is there now, or, with a signal,
   * what comes until it aborts. What no agent takes waits for the next turn.
   */
  steer(until?: AbortSignal): Promise<string[]>
  /** Whether somebody watches who would rather be asked than have a spent quota or a silence decided for them. */
  attended?: boolean
  /** The mark of a prompt that was pasted already: only watch. */
  sent?: string
}

/** `allowed`: what a person said yes to for this seat alone, beyond all that it is held to otherwise. */
export type RosterSeat = {
  cwd: string
  leash: Leash
  resume?: string
  allowed?: Leash
  /** The terminal that it sits in: found by this id where it lives, else opened with it. */
  terminal?: { id: string; title?: string; mode?: 'window' | 'pane' }
  model?: string
}

/** The configured agents. `open` is lazy and cannot fail: what is wrong shows as the failure of a turn. */
export interface Roster {
  names(): string[]
  open(name: string, seat: RosterSeat): Agent
}

/** Who is asked first: the one after whoever answered last · whoever answered last · anyone. */
export const strategies = ['round-robin', 'exhaustion', 'random'] as const
export type Strategy = (typeof strategies)[number]

/** Whose turns these are: everybody's, our own agents', or our own agents' that only plan. */
export type WorkMode = 'chat' | 'agent' | 'plan'
