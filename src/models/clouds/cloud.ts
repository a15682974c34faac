import type { Env } from '../../base/env.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Failure } from '../../core/talk/outcome.ts'
import type { WireName } from '../provider.ts'
import type { Send } from '../http/http-client.ts'
import type { Carriage, Listed, Login, Trouble } from '../http/wire-format.ts'

/** The person's environment in which a cloud looks for its credential and its address. */
export type CloudWorld = {
  env: Env
  /** The person's home folder. */
  home: string
  clock: Clock
  fetch: Send
  /** The key from the environment or the key store, if there is one, and the description of its source. */
  key?: { value: string; place: string }
  baseURL?: string
  /** Gets every secret that is used, so that it is masked in all text that leaves. */
  learn?(name: string, secret: string): void
}

/** A company's cloud: everything that is needed to use it from here. */
export type Cloud = {
  /** Finds the address and the credential for a model. No request is sent before the first `pack`. */
  open(model: string, wire: WireName, world: CloudWorld): Promise<Carriage | { failure: Failure }>
  /** Lists the models that can be called, if the cloud has such a list. */
  list?(world: CloudWorld, signal: AbortSignal): Promise<Listed[] | { trouble: Trouble; login?: Login }>
}

export const missing = (message: string): { failure: Failure } => ({ failure: { kind: 'missing', message } })
export const authFailure = (message: string): { failure: Failure } => ({ failure: { kind: 'auth', message } })

/**
 * Changes an Anthropic request for a cloud: the version is in the body instead of a header, and the model in the address. The cache mark,
 * which Anthropic's own servers move to the end automatically, is set at the end of the last message.
 */
export function anthropicBody(body: string, version: string, more: object = {}): string {
  const { model: _model, cache_control: mark, system, messages, ...rest } = JSON.parse(body)
  return JSON.stringify({
    anthropic_version: version,
    ...more,
    ...rest,
    system: mark ? system : system?.map(({ cache_control: _mark, ...block }: any) => block),
    messages: mark ? [...messages.slice(0, -1), markMessage(messages.at(-1), mark)] : messages,
  })
}

function markMessage(message: any, mark: object): object {
  if (message === undefined || message.role === 'assistant') return message
  const blocks = typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content
  const last = blocks.at(-1)
  // Anthropic refuses a mark on an empty text.
  if (!last || (last.type === 'text' && last.text.trim() === '')) return message
  return { ...message, content: [...blocks.slice(0, -1), { ...last, cache_control: mark }] }
}
