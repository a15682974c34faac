import type { Usage } from '../talk/entry.ts'
import type { Ref } from '../talk/store.ts'
import type { Failure } from '../talk/outcome.ts'

export type ModelMessage =
  | { role: 'user'; text: string; files?: Ref[] }
  | {
      role: 'assistant'
      text: string
      calls: { id: string; tool: string; input: unknown; opaque?: unknown }[]
      opaque?: unknown
    }
  | { role: 'tool'; call: string; tool: string; ok: boolean; text: string; files?: Ref[] }

/** What is fixed for a session: a byte-stable prefix of every request. */
export type Frame = { system: string; tools: { name: string; description: string; schema: Record<string, unknown> }[] }

/** `schema`: the shape that the answer is wanted in, where a provider can hold a model to one. */
export type ModelRequest = { frame: Frame; messages: ModelMessage[]; schema?: Record<string, unknown> }

export type ModelEvent =
  | { type: 'text' | 'thought'; delta: string }
  | { type: 'call'; id: string; tool: string; input: unknown; opaque?: unknown }
  | { type: 'usage'; usage: Omit<Usage, 'type'> }
  | { type: 'end'; stop: 'done' | 'calls' | 'length' | 'refused'; opaque?: unknown }
  | { type: 'failure'; failure: Failure }

/** A provider's model. `stream` never throws: it yields exactly one `end` or `failure`, last. */
export interface Model {
  name: string
  window: number
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>
}
