import type { Ref } from './store.ts'

/** `unmet`: everything worked, and what was wanted was not reached by it. */
export type FailureKind =
  'quota' | 'busy' | 'auth' | 'missing' | 'timeout' | 'overflow' | 'crash' | 'denied' | 'budget' | 'aborted' | 'unmet'

/** `retryAt` is in ms since 1970, only when whoever refused said so. */
export type Failure = { kind: FailureKind; message: string; retryAt?: number }

/**
 * How the answer of an agent in a terminal was read: whether it came marked as such (a fence, the CLI's own journal),
 * and by which sign its turn was seen to be over.
 */
export type Seen = { fenced: boolean; by: string }

/** `whole` is where a long one is. */
export type Answer = { text: string; whole?: Ref }

/**
 * `refused`: the model declined. `asks`: the reply is a question. `denials`: what it was not allowed to do.
 * `unkept`: the answer is good, and all that failed was keeping it.
 */
export type Outcome =
  | ({ ok: true; refused?: true; asks?: string; denials?: string[]; seen?: Seen } & Answer)
  | { ok: false; failure: Failure; unkept?: Answer }

export function failed(kind: FailureKind, message: string, retryAt?: number): { ok: false; failure: Failure } {
  return { ok: false, failure: retryAt === undefined ? { kind, message } : { kind, message, retryAt } }
}
