import type { Usage } from '../talk/entry.ts'
import type { Ref } from '../talk/store.ts'
import type { Failure } from '../talk/outcome.ts'

/**
 * A message of a request, in the form that all providers share. `opaque` is data that only its provider can read. `aside`: the message
 * belongs to this request alone, so no cache may end after it.
 */
export type ModelMessage =
  | { role: 'user'; text: string; files?: Ref[]; aside?: true }
  | {
      role: 'assistant'
      text: string
      calls: { id: string; tool: string; input: unknown; opaque?: unknown }[]
      opaque?: unknown
    }
  | { role: 'tool'; call: string; tool: string; ok: boolean; text: string; files?: Ref[] }

/** The system text and tools of a session. They are fixed, so that every request begins with the same bytes and is cached. */
export type Frame = { system: string; tools: { name: string; description: string; schema: Record<string, unknown> }[] }

/**
 * `schema`: the JSON Schema that the answer must fit, for providers that can enforce one. `begun`: the parts of this answer that
 * arrived before its stream was cut, one text for each cut; the model streams only what follows, and the `opaque` data of the end
 * covers the whole answer. `aside`: a text for the model with this request alone. It follows the messages, and neither the
 * conversation nor a later request has it.
 */
export type ModelRequest = {
  frame: Frame
  messages: ModelMessage[]
  schema?: Record<string, unknown>
  begun?: readonly string[]
  aside?: string
}

export type ModelEvent =
  | { type: 'text' | 'thought'; delta: string }
  | { type: 'call'; id: string; tool: string; input: unknown; opaque?: unknown }
  | { type: 'usage'; usage: Omit<Usage, 'type'> }
  | { type: 'end'; stop: 'done' | 'calls' | 'length' | 'refused'; opaque?: unknown }
  /**
   * `passing`: the problem is temporary, so the same request may succeed a little later. `invalid`: the provider considers this request,
   * or the call that its model made, invalid.
   */
  | { type: 'failure'; failure: Failure; passing?: true; invalid?: InvalidRequest }

/** `tool`: the tool that the request does not describe, if the provider names it. */
export type InvalidRequest = { tool?: string }

/** A provider's model. `stream` never throws: its last event is its only `end` or `failure`. */
export interface Model {
  name: string
  window: number
  /** Why the model could not see a picture of the requests so far. */
  unseen?(ref: Ref): string | undefined
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>
}
