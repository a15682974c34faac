import type { Ended } from '../../core/work/profile.ts'
import type { Failure, Outcome } from '../../core/talk/outcome.ts'
import type { PipeSpec } from '../pipe/pipe-command.ts'
import type { PromptResponse } from '@agentclientprotocol/sdk'
import { messageOf } from '../../base/error-message.ts'
import { processFailure, plainFailure, lastLine } from '../process-failure.ts'
import { failed } from '../../core/talk/outcome.ts'

export type RpcError = Error & { code: number; data?: unknown }

export function isRpcError(error: unknown): error is RpcError {
  return error instanceof Error && typeof (error as Partial<RpcError>).code === 'number'
}

const authRequired = -32000

export const isAuth = (error: unknown) => isRpcError(error) && error.code === authRequired

/** What an error that the agent answered with means. */
export function rpcFailure(spec: PipeSpec, error: RpcError, now: number): Failure {
  const message = sentenceOf(error)
  const known = spec.profile?.acp?.failure(message, now)
  if (known) return known
  if (error.code === authRequired) {
    const login = spec.profile ? `; log in with: ${spec.profile.login}` : ''
    return { kind: 'auth', message: `${spec.name} is not logged in (${message})${login}` }
  }
  const plain = spec.profile ? undefined : plainFailure({ out: '', err: message, now })
  return plain ?? { kind: 'crash', message: `${spec.name} failed: ${message}` }
}

/** What a connection that ended before the answer means. */
export function connectionFailure(spec: PipeSpec, ended: Ended, error: unknown): Failure {
  const known = processFailure(spec.name, ended, spec.profile)
  if (known) return known
  const words = lastLine(ended.err) || messageOf(error)
  return { kind: 'crash', message: `${spec.name} left before it answered: ${words}` }
}

/** The words that say most: an "Internal error" has its reason in the data. */
function sentenceOf({ message, data }: RpcError): string {
  if (typeof data === 'string' && data !== '') return data
  const { details, message: inner } = (data ?? {}) as { details?: unknown; message?: unknown }
  const reason = [details, inner].find((value) => typeof value === 'string' && value !== '')
  return (reason as string | undefined) ?? message
}

/** What a turn that the agent ended itself came to. */
export function answerOutcome(
  name: string,
  { stopReason }: PromptResponse,
  text: string,
  denials: readonly string[],
): Outcome {
  const refused = stopReason === 'refusal'
  if (text === '' && denials.length > 0) return failed('denied', `${name} was not allowed: ${denials.join(', ')}`)
  if (text === '' && !refused) return failed('crash', `${name} gave an empty answer (it stopped with "${stopReason}")`)
  return {
    ok: true,
    text: text === '' ? `${name} declined to answer.` : text,
    ...(refused ? { refused } : {}),
    ...(denials.length > 0 ? { denials: [...denials] } : {}),
  }
}

const early: Partial<Record<PromptResponse['stopReason'], string>> = {
  max_tokens: 'its answer was as long as it may be',
  max_turn_requests: 'it asked its model as often as it may in one turn',
  cancelled: 'it says that the turn was cancelled',
}

/** What is to be said of an answer that is not all that was meant to come. */
export function earlyStopNote(name: string, { stopReason }: PromptResponse): string | undefined {
  const why = early[stopReason]
  return why && `${name} stopped early: ${why}`
}
