import type { Ref } from '../core/talk/store.ts'
import type { ModelEvent, ModelRequest, Frame } from '../core/work/model.ts'
import type { Effort, Provider } from './provider.ts'
import type { ReplyHeaders } from './http/http-client.ts'
import type { Known } from './model-windows.ts'

/** The model that is spoken to, and how. */
export type Target = {
  name: string
  provider: Provider
  model: string
  /** Without a slash at its end. */
  base: string
  key?: string
  effort?: Effort
  session?: string
  known: Known
  /** The context that is asked for and counted on; a local server may say that it has less. */
  window: number
  /** What this server refused to be told: it is left out from then on. */
  refused: Set<string>
}

export type WireRequest = { url: string; headers: Record<string, string>; body: string }

/** Tokens of one answer as they were reported: `input` counts the cached and the written ones too. */
export type ReportedUsage = { input: number; output: number; cached: number; written?: number; cost?: number }

/** Something went wrong: as a server said it, or as it broke on the way. */
export type Trouble = { status?: number; headers?: ReplyHeaders; body?: unknown; cause?: unknown }

export type WireEvent =
  | Extract<ModelEvent, { type: 'text' | 'thought' | 'call' | 'end' }>
  | ({ type: 'counted' } & ReportedUsage)
  | { type: 'trouble'; trouble: Trouble }

/** Makes events of what one answer is streamed in; after an `end` or a `trouble` it is not asked again. */
export type Reader = {
  read(data: string): Iterable<WireEvent>
  /** The stream is over; without an end it was cut. */
  close(): Iterable<WireEvent>
}

/** The body of an image as base64, if it could be read. */
export type Images = (ref: Ref) => string | undefined

/** Asks the same server something small; undefined when it has no answer. */
export type Aside = (path: string, body?: object) => Promise<{ status: number; body: any } | undefined>

/** One wire format. Bodies are byte-stable: the prompt stands last, and only grows. */
export type Wire = {
  /** What may be left out when a server does not know it. */
  options: readonly string[]
  framing: 'events' | 'lines'
  request(request: ModelRequest, to: Target, images: Images): WireRequest
  reader(to: Target): Reader
  /** Before the first request: what the server says of the model. */
  prepare?(to: Target, aside: Aside): Promise<Trouble | undefined>
  /** Why a request is not even sent. */
  fits?(sent: WireRequest, to: Target): Trouble | undefined
  /** Before an answer counts: whether it was given all it was asked with. */
  verify?(to: Target, counted: ReportedUsage, aside: Aside): Promise<Trouble | undefined>
}

/** The tools as OpenAI's chat format has them, and whoever follows it; none is no field at all. */
export function functionsOf({ tools }: Frame): { tools?: object[] } {
  if (tools.length === 0) return {}
  return {
    tools: tools.map(({ name, description, schema }) => ({
      type: 'function',
      function: { name, description, parameters: schema },
    })),
  }
}
