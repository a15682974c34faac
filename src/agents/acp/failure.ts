import type { Ended } from '../../core/work/profile.ts'
import type { Failure } from '../../core/talk/outcome.ts'
import type { AcpSpec } from './command.ts'
import { wordsOf } from '../../base/words.ts'
import { failureOf, plainFailure } from '../pipe/failure.ts'
import { lastLine } from '../pipe/tail.ts'
import { factsOf } from './command.ts'

export type RpcError = Error & { code: number; data?: unknown }

export function isRpcError(error: unknown): error is RpcError {
  return error instanceof Error && typeof (error as Partial<RpcError>).code === 'number'
}

const authRequired = -32000

export const isAuth = (error: unknown) => isRpcError(error) && error.code === authRequired

/** What an error that the agent answered with means. */
export function rpcFailure(spec: AcpSpec, error: RpcError, now: number): Failure {
  const message = sentenceOf(error)
  const known = factsOf(spec)?.failure(message, now)
  if (known) return known
  if (error.code === authRequired) {
    const login = spec.profile ? `; log in with: ${spec.profile.login}` : ''
    return { kind: 'auth', message: `${spec.name} is not logged in (${message})${login}` }
  }
  const plain = spec.profile ? undefined : plainFailure({ out: '', err: message, now })
  return plain ?? { kind: 'crash', message: `${spec.name} failed: ${message}` }
}

/** What a connection that ended before the answer means. */
export function brokenOff(spec: AcpSpec, ended: Ended, error: unknown): Failure {
  const known = failureOf(spec.name, ended, spec.profile)
  if (known) return known
  const words = lastLine(ended.err) || wordsOf(error)
  return { kind: 'crash', message: `${spec.name} left before it answered: ${words}` }
}

/** The words that say most: an "Internal error" has its reason in the data. */
function sentenceOf({ message, data }: RpcError): string {
  if (typeof data === 'string' && data !== '') return data
  const { details, message: inner } = (data ?? {}) as { details?: unknown; message?: unknown }
  const reason = [details, inner].find((value) => typeof value === 'string' && value !== '')
  return (reason as string | undefined) ?? message
}
