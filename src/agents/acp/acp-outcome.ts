import type { Ended } from '../../core/profile/profile.ts'
import type { Failure, Outcome, StoppedBy } from '../../core/talk/outcome.ts'
import type { PipeSpec } from '../pipe/pipe-command.ts'
import type { PromptResponse } from '@agentclientprotocol/sdk'
import { defined } from '../../base/defined.ts'
import { messageOf } from '../../base/error-message.ts'
import { processFailure, closingLine } from '../process-failure.ts'
import { plainFailure } from '../plain-failure.ts'
import { failed, unfinished } from '../../core/talk/outcome.ts'

type RpcError = Error & { code: number; data?: unknown }

export function isRpcError(error: unknown): error is RpcError {
  return error instanceof Error && typeof (error as Partial<RpcError>).code === 'number'
}

const authRequired = -32000

export const isAuth = (error: unknown) => isRpcError(error) && error.code === authRequired

/** The failure behind an error that the agent answered with. */
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

/** The failure behind a connection that closed before the answer. */
export function connectionFailure(spec: PipeSpec, ended: Ended, error: unknown): Failure {
  const known = processFailure(spec.name, ended, spec.profile)
  if (known) return known
  const words = closingLine(ended.err) || messageOf(error)
  return { kind: 'crash', message: `${spec.name} exited before it answered: ${words}` }
}

/** The most useful message of an error: an "Internal error" has its reason in the data. */
function sentenceOf({ message, data }: RpcError): string {
  if (typeof data === 'string' && data !== '') return data
  const { details, message: inner } = (data ?? {}) as { details?: unknown; message?: unknown }
  const reason = [details, inner].find((value) => typeof value === 'string' && value !== '')
  return (reason as string | undefined) ?? message
}

/** The outcome of a turn that the agent ended by itself. */
export function answerOutcome(
  name: string,
  { stopReason }: PromptResponse,
  text: string,
  denials: readonly string[],
): Outcome {
  const stop = stops[stopReason]
  if (stop) return { ok: false, failure: unfinished(stop.by, `${name} says that ${stop.why}`) }
  const refused = stopReason === 'refusal'
  if (text === '' && denials.length > 0) return failed('denied', `${name} was not allowed: ${denials.join(', ')}`)
  if (text === '' && !refused) return failed('crash', `${name} gave an empty answer (it stopped with "${stopReason}")`)
  return defined<Outcome>({
    ok: true,
    text: text === '' ? `${name} declined to answer.` : text,
    refused: refused || undefined,
    denials: denials.length > 0 ? [...denials] : undefined,
  })
}

/** The protocol's stop reasons for a turn that reached one of the agent's own limits. */
const stops: Partial<Record<PromptResponse['stopReason'], { by: StoppedBy; why: string }>> = {
  max_tokens: { by: 'output', why: 'its answer reached the longest length allowed' },
  max_turn_requests: { by: 'steps', why: 'it reached the number of model requests allowed in one turn' },
}

/** The note about an answer that was cut short. */
export function earlyStopNote(name: string, { stopReason }: PromptResponse): string | undefined {
  return stopReason === 'cancelled' ? `${name} stopped early: it says that the turn was cancelled` : undefined
}
