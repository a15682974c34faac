import type { Ref } from '../../core/talk/store.ts'
import type { ModelEvent, ModelRequest, Frame } from '../../core/work/model.ts'
import type { Provider, WireName } from '../provider.ts'
import type { Effort } from '../../core/profile/effort.ts'
import type { ReplyHeaders } from './http-client.ts'
import type { Known } from '../model-windows.ts'
import type { Failure } from '../../core/talk/outcome.ts'
import { defined } from '../../base/defined.ts'

/** The model that gets the requests, and how to reach it. */
export type Target = {
  name: string
  provider: Provider
  /** The format in which the model is called. */
  wire: WireName
  model: string
  /** The address, without a slash at its end. */
  base: string
  key?: string
  /** Carries the requests to the provider, if it is a cloud. */
  carriage?: Carriage
  /** The cloud's credential for the requests. */
  login?: Login
  effort?: Effort
  session?: string
  known: Known
  /** The context window in tokens. A local server may lower it. */
  window: number
  /** The options that this server has refused, and that are left out from then on. */
  refused: Set<string>
  /** Why the model could not see an image of an earlier request, by the image's hash. */
  unseen: Map<string, string>
  /** Whether the address is the person's own; such an address is uncertain until it has answered. */
  ownAddress?: boolean
  /** Whether the server has answered a request of this process. */
  answered?: boolean
}

export type WireRequest = { url: string; headers: Record<string, string>; body: string }

/** The tokens of one answer, as reported by the provider. `input` includes those read from the cache and written to it. */
export type ReportedUsage = { input: number; output: number; cached: number; written?: number; cost?: number }

/** An error: as the server sent it, the `cause` that broke the connection, or the already known `failure`. */
export type Trouble = { status?: number; headers?: ReplyHeaders; body?: unknown; cause?: unknown; failure?: Failure }

export type WireEvent =
  | Extract<ModelEvent, { type: 'text' | 'thought' | 'call' | 'end' }>
  /** `part`: the answer was cut, and these are the tokens reported by then. */
  | ({ type: 'counted'; part?: true } & ReportedUsage)
  | { type: 'trouble'; trouble: Trouble }

/** Turns the stream of one answer into events. Not used after an `end` or a `trouble`. */
export type Reader = {
  read(data: string): Iterable<WireEvent>
  /** Called when the stream is over. Without an `end`, the stream was cut. */
  close(): Iterable<WireEvent>
  /** The usage reported so far, if the provider's format reports any before the end. */
  counted?(): ReportedUsage | undefined
}

/** An image with its body as base64, or a sentence instead of one that the model cannot see. */
export type SeenImage = { media: string; data: string } | { missing: string }

/** Returns an image of the conversation in the form for the model. */
export type Images = (ref: Ref) => SeenImage | undefined

/** Sends a small request to the same server; undefined if it does not answer. */
export type SideRequest = (path: string, body?: object) => Promise<{ status: number; body: any } | undefined>

/** A provider's request and stream format. Requests are byte-stable: each one begins with the bytes of the previous one. */
export type Wire = {
  /** The options that are left out if a server refuses them. */
  options: readonly string[]
  framing: 'events' | 'lines'
  request(request: ModelRequest, to: Target, images: Images): WireRequest
  reader(to: Target): Reader
  /** Whether a request may end with the beginning of the answer, which the model then continues. Without this method, no request may. */
  prefills?(to: Target, begun: readonly string[]): boolean
  /** Asks the server about the model, before the first request. */
  prepare?(to: Target, aside: SideRequest): Promise<Trouble | undefined>
  /** Returns why a request cannot be sent at all. */
  fits?(sent: WireRequest, to: Target): Trouble | undefined
  /** Checks that the model saw the whole request, before an answer counts. */
  verify?(to: Target, counted: ReportedUsage, aside: SideRequest): Promise<Trouble | undefined>
}

/**
 * Carries the requests of a wire to a cloud that serves other companies' models: the cloud has its own addresses, its own login, small
 * changes of the body and sometimes its own framing of the answer. The wire still determines the content of a request.
 */
export type Carriage = {
  /** The address to name in errors. */
  base: string
  login: Login
  /** Turns a wire's request into the cloud's. Called for every attempt, because signatures and tokens are only valid for a short time. */
  pack(sent: WireRequest, signal: AbortSignal): Promise<WireRequest | { trouble: Trouble }>
  /** Yields the data of the answer's events, if the cloud frames them differently from the wire. */
  unpack?(chunks: AsyncIterable<Uint8Array>): AsyncIterable<string | { trouble: Trouble }>
  /** Drops a login that was refused. Returns whether the next request may have another one. */
  renew?(): boolean
}

/** The credential of the requests: what it is, where it was found and how to fix it, never its value. */
export type Login = { words: string; next: string }

/** A model that a provider offers. */
export type Listed = { id: string; window?: number }

/** Returns the tools in OpenAI's chat format, which other servers use too; without tools the field is missing. */
export function functionsOf({ tools }: Frame): { tools?: object[] } {
  if (tools.length === 0) return {}
  return {
    tools: tools.map(({ name, description, schema }) => ({
      type: 'function',
      function: { name, description, parameters: schema },
    })),
  }
}

/** Leaves out the headers that have no value. */
export const headersOf = (headers: Record<string, string | undefined>) => defined(headers) as Record<string, string>

export const jsonHeaders = (headers: Record<string, string | undefined>) =>
  headersOf({ 'content-type': 'application/json', ...headers })

export const bearer = (key: string | undefined) => (key ? `Bearer ${key}` : undefined)
