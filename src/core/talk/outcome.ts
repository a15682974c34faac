import type { Ref } from './ref.ts'

export type FailureKind =
  'quota' | 'busy' | 'auth' | 'missing' | 'timeout' | 'overflow' | 'crash' | 'denied' | 'budget' | 'aborted'

/** `retryAt` is in ms since 1970, only when whoever refused said so. */
export type Failure = { kind: FailureKind; message: string; retryAt?: number }

/** `refused`: the model declined. `asks`: the reply is a question. `denials`: what it was not allowed to do. `whole`: where a long answer is. */
export type Outcome =
  | { ok: true; text: string; whole?: Ref; refused?: true; asks?: string; denials?: string[] }
  | { ok: false; failure: Failure }

export function failed(kind: FailureKind, message: string, retryAt?: number): { ok: false; failure: Failure } {
  return { ok: false, failure: retryAt === undefined ? { kind, message } : { kind, message, retryAt } }
}
