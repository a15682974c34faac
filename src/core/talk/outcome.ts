import type { Ref } from './store.ts'

/** `unmet`: every step worked, but the goal was not reached. */
export type FailureKind =
  'quota' | 'busy' | 'auth' | 'missing' | 'timeout' | 'overflow' | 'crash' | 'denied' | 'budget' | 'aborted' | 'unmet'

/** `retryAt` is in ms since 1970; it is set only when the provider named the time. */
export type Failure = { kind: FailureKind; message: string; retryAt?: number }

/**
 * How the answer of an agent in a terminal was read: whether it was marked as the answer (by a fence or the CLI's journal),
 * and by which sign the turn was known to be over. `whole` is false when the beginning of the answer had scrolled out of the terminal.
 */
export type Seen = { fenced: boolean; by: string; whole?: false }

/** An answer; `whole` points to the full text when `text` was cut. */
export type Answer = { text: string; whole?: Ref }

/**
 * How a turn ended. `refused`: the model declined. `asks`: the reply is a question. `denials`: what the agent was not allowed
 * to do. `unkept`: a good answer that could not be kept in the log.
 */
export type Outcome =
  | ({ ok: true; refused?: true; asks?: string; denials?: string[]; seen?: Seen } & Answer)
  | { ok: false; failure: Failure; unkept?: Answer }

export function failed(kind: FailureKind, message: string, retryAt?: number): { ok: false; failure: Failure } {
  return { ok: false, failure: retryAt === undefined ? { kind, message } : { kind, message, retryAt } }
}
