import type { Ref } from './store.ts'
import { defined } from '../../base/defined.ts'

/**
 * `unmet`: every step worked, but the goal was not reached. `unfinished`: the turn was stopped before its work was done; its work stays,
 * no other agent is asked, and no agent's health changes.
 */
export type FailureKind =
  | 'quota'
  | 'busy'
  | 'auth'
  | 'missing'
  | 'timeout'
  | 'overflow'
  | 'crash'
  | 'denied'
  | 'aborted'
  | 'unmet'
  | 'unfinished'

/** Why a turn stopped unfinished: a limit on its steps, time, tokens or cost, a full window, the longest answer, a model that repeats itself, a person or a hook. */
export type StoppedBy = 'steps' | 'time' | 'tokens' | 'cost' | 'window' | 'output' | 'repetition' | 'person' | 'hook'

/** `retryAt` is in ms since 1970; it is set only when the provider named the time. `stoppedBy` belongs to `unfinished`. */
export type Failure = { kind: FailureKind; message: string; retryAt?: number; stoppedBy?: StoppedBy }

/**
 * How the answer of an agent in a terminal was read: whether it was marked as the answer (by a fence or the CLI's journal), and which
 * sign showed that the turn was over. `whole` is false when the beginning of the answer had scrolled out of the terminal.
 */
export type Seen = { fenced: boolean; by: string; whole?: false }

/** Warns that an answer without a fence or journal entry was read from the screen. */
export function scrapedWords(agent: string): string {
  return `This answer was scraped from the screen of ${agent}, and may hold more than its words.`
}

/** An answer in the form for people and agents. If nothing marked it as the answer, it first says so. */
export function answerWords(agent: string, text: string, fenced: boolean): string {
  return fenced ? text : `[${scrapedWords(agent)}]\n${text}`
}

/** An answer; `whole` refers to the full text if `text` was cut. */
export type Answer = { text: string; whole?: Ref }

/**
 * The end of a turn. `refused`: the model declined. `asks`: the reply is a question. `denials`: the acts that the agent was not allowed
 * to do, and `rules`: the rules that would have allowed them. `plan`: the answer is a plan that waits for the person's approval. `unkept`: a
 * good answer that could not be stored in the log.
 */
export type Outcome =
  | ({
      ok: true
      refused?: true
      asks?: string
      plan?: true
      denials?: string[]
      rules?: string[]
      seen?: Seen
    } & Answer)
  | { ok: false; failure: Failure; unkept?: Answer }

/** Each kind of failure as the predicate of a sentence about an agent, for a person. */
const predicates: Record<FailureKind, string> = {
  quota: 'is out of quota',
  busy: 'is busy',
  auth: 'is not logged in',
  missing: 'cannot be started',
  timeout: 'took too long',
  overflow: 'got more text than it can read',
  crash: 'failed',
  denied: 'was not allowed to act',
  aborted: 'was cancelled',
  unmet: 'did not reach the goal',
  unfinished: 'stopped before it was done',
}

export function failurePredicate(kind: FailureKind): string {
  return predicates[kind]
}

/** A failure of an agent as a sentence for a person. Many messages already begin with the agent's name. */
export function failureSentence(agent: string, { kind, message }: Failure): string {
  return message.startsWith(`${agent} `) ? message : `${agent} ${predicates[kind]}: ${message}`
}

export function failed(kind: FailureKind, message: string, retryAt?: number): { ok: false; failure: Failure } {
  return { ok: false, failure: retryAt === undefined ? { kind, message } : { kind, message, retryAt } }
}

/** The failure of a turn that was stopped before its work was done; `why` is a clause without a full stop. */
export function unfinished(stoppedBy: StoppedBy, why: string, retryAt?: number): Failure {
  return defined<Failure>({
    kind: 'unfinished',
    message: `stopped before the work was done: ${why}`,
    retryAt,
    stoppedBy,
  })
}
