import type { Framework } from './framework.ts'
import type { Failure, Outcome } from './outcome.ts'
import type { Question } from './question.ts'
import type { Ref } from './store.ts'

export type Usage = {
  type: 'usage'
  input: number
  output: number
  cached?: number
  cost?: number
  source: 'reported' | 'parsed' | 'estimated'
}

export type Attempt = {
  type: 'attempt'
  failure: Failure
  ms: number
  did?: { calls: string[]; files: string[]; lastWords: string }
}

/**
 * What an agent is to follow to the letter from here on, beside its frame: a skill it loaded, instructions that changed.
 * `mark`: what it was made of; the next frame holds that, and it goes with the messages it stands among.
 */
export type Guide = { type: 'guide'; name: string; text: string; mark?: string }

/**
 * From here on old raw outputs are left out: those of the turns through this end, and with `step` those of the turn it
 * stands in that came before it, through this step.
 */
export type Trim = { type: 'trim'; through?: string; step?: number }

/**
 * How a turn was thought through and what came of it, signed by whoever acted. `passed`: whether a check said so, where
 * one could be made; `calls`: how many agents were asked besides.
 */
export type Verdict = {
  type: 'verdict'
  framework: Framework
  /** The kind of request, as whoever chose saw it. */
  why: string
  passed?: boolean
  calls: number
  ms: number
}

/** Kept. `whole` is where the rest is when a body was cut for the log. */
export type Fact = (
  | { type: 'prompt'; text: string; files?: Ref[]; owner?: string }
  /** Said by the person while the turn ran, and given to the agent that ran it. */
  | { type: 'steer'; text: string }
  | { type: 'reply'; text: string; step?: number; opaque?: unknown }
  | { type: 'call'; call: string; tool: string; input: unknown; step?: number; opaque?: unknown }
  | { type: 'result'; call: string; ok: boolean; text: string; data?: unknown; files?: Ref[] }
  | Attempt
  | { type: 'question'; ask: string; question: Question }
  | { type: 'answer'; ask: string; picks?: string[] }
  | { type: 'frame'; ref: Ref }
  | Guide
  /** `shared`: who was told what it stands for. `guides`: what it stands for and does not replace, by whom it is followed. */
  | { type: 'summary'; text: string; through: string; shared?: string[]; guides?: (Guide & { by: string })[] }
  | Trim
  | { type: 'thread'; key: string }
  | { type: 'note'; text: string }
  | Verdict
  | Usage
  | { type: 'end'; outcome: Outcome }
) & { whole?: Ref }

export type PlanItem = { task: string; status: 'pending' | 'in_progress' | 'completed' }

/** A file that a call changed; without `before` it is new. All of them, as a list, are the `data` of its result. */
export type FileChange = { path: string; before?: string; after: string }

/** Shown, then forgotten; the only kind that may be dropped. */
export type Live =
  | { type: 'text' | 'thought'; delta: string }
  | { type: 'progress'; call: string; delta: string }
  | { type: 'state'; state: 'starting' | 'busy' | 'asking' | 'idle' }
  /** What the agent means to do, whole each time. */
  | { type: 'plan'; items: PlanItem[] }
  /** Where a turn that is thought through stands. */
  | { type: 'phase'; framework: Framework; words: string }
  /** How much of a provider's window is spent, in percent, and when it begins anew: told before it is hit. */
  | { type: 'limit'; used: number; until?: number; window?: string }

/** From an agent that was consulted. */
export type Inner = { type: 'inner'; role: string; event: Event }

/** `by` is who really spoke, when it is not the agent whose turn it is. A kept one carries the rest of its Entry. */
export type Event = (Fact | Live | Inner) & { by?: string }

export type Entry = Fact & { id: string; at: number; by: string; session: string; turn: string }

export type EntryOf<K extends Entry['type']> = Extract<Entry, { type: K }>

const live = new Set(['text', 'thought', 'progress', 'state', 'plan', 'phase', 'limit', 'inner'])

export function isFact(event: Event): event is Fact & { by?: string } {
  return !live.has(event.type)
}

/** Whether a parsed line of a log is an entry of ours: another version's unknown types are. */
export function isEntry(value: unknown): value is Entry {
  if (typeof value !== 'object' || value === null) return false
  const entry = value as Record<string, unknown>
  return (
    ['id', 'by', 'session', 'turn', 'type'].every((key) => typeof entry[key] === 'string') &&
    typeof entry.at === 'number'
  )
}
