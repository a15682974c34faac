import type { Failure, FailureKind } from '../core/talk/outcome.ts'
import type { Loose } from './jsonl.ts'
import type { Sign } from './signs.ts'
import { innerMessage, loose, numberOf, textOf } from './jsonl.ts'
import { readMessage } from './signs.ts'

/** What an app-server calls its errors, for those whose words are not known. */
const kinds: Readonly<Record<string, FailureKind>> = {
  usageLimitExceeded: 'quota',
  sessionBudgetExceeded: 'budget',
  contextWindowExceeded: 'overflow',
  rateLimitExceeded: 'busy',
  serverOverloaded: 'busy',
  internalServerError: 'busy',
  flexUnavailable: 'busy',
  unauthorized: 'auth',
}

/** The error of a turn: what its words say, or else its type, or else the status behind it. */
export function failureOf(signs: readonly Sign[], { message, codexErrorInfo }: Loose, now: number): Failure {
  const words = textOf(message) ?? 'it failed without a word'
  const kind = kinds[String(codexErrorInfo)] ?? kindOf(statusIn(loose(codexErrorInfo)))
  const failure = readMessage(signs, words, now) ?? { kind, message: words }
  return { ...failure, message: innerMessage(words).slice(0, 500) }
}

/** `{"httpConnectionFailed":{"httpStatusCode":401}}` */
function statusIn(info: Loose): number {
  return numberOf(loose(Object.values(info)[0]).httpStatusCode)
}

function kindOf(status: number): FailureKind {
  if (status === 401 || status === 403) return 'auth'
  return status === 429 || status >= 500 ? 'busy' : 'crash'
}
