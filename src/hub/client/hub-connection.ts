import type { Io } from '../../core/io.ts'
import type { HubVersion } from '../model/hub-protocol.ts'
import type { Operation } from '../model/operations/operation.ts'
import type { AnswerOf, FilledParams, OperationName, SentFields } from '../model/operations/operations.ts'
import type { KeySource } from './hub-key-source.ts'
import { certificateFault } from '../../base/http/certificate-fault.ts'
import { messageOf } from '../../base/error-message.ts'
import { HttpAnswer, sendRequest } from '../../base/http/http-request.ts'
import { defined } from '../../base/defined.ts'
import { hubProtocol, skewWords } from '../model/hub-protocol.ts'
import { filledPath, methodAndPath } from '../model/operations/operation.ts'
import { operations } from '../model/operations/operations.ts'
import { HubAway, HubRefused, HubUntrusted } from '../engine/remote-hub.ts'
import { version } from '../../base/version.ts'
import { fixedKey, withKey } from './hub-key-source.ts'

/** The address of a hub, which may change while the client runs, and the key to the hub. `env` names the proxy, if there is one. */
export type ConnectionParts = { url: string | (() => string); key?: string | KeySource; env?: Io['env'] }

/** Sends requests to a hub over HTTP. The error of a failed request says in plain language why it failed. */
export class HubConnection {
  #url: () => string
  #source: KeySource
  #env: Io['env']

  constructor({ url, key, env = {} }: ConnectionParts) {
    this.#url = typeof url === 'string' ? () => url : url
    this.#source = typeof key === 'object' ? key : fixedKey(key)
    this.#env = env
  }

  get url(): string {
    return this.#url()
  }

  /**
   * Performs an operation of the hub: `fields` are its query or body fields, or the bytes to send. Throws HubRefused if the hub refuses,
   * and HubAway if no hub answers.
   */
  async call<N extends OperationName>(
    name: N,
    params: FilledParams<N>,
    fields?: SentFields<N> | Uint8Array,
    signal?: AbortSignal,
  ): Promise<AnswerOf<N>> {
    const answer = await this.open(name, params, fields, signal)
    return (await this.heard(() => answer.json(), signal)) as AnswerOf<N>
  }

  /** Starts an operation of the hub; the caller reads the answer through `heard`. */
  open<N extends OperationName>(
    name: N,
    params: FilledParams<N>,
    fields: SentFields<N> | Uint8Array = {} as SentFields<N>,
    signal?: AbortSignal,
  ): Promise<HttpAnswer> {
    const { method, path: pattern } = methodAndPath(name)
    const path = filledPath(pattern, params)
    const ms = patienceMs(operations[name], fields)
    if (method === 'POST') return this.send(method, path, fields, signal, ms)
    const query = new URLSearchParams(defined(fields) as Record<string, string>).toString()
    return this.send(method, query === '' ? path : `${path}?${query}`, undefined, signal, ms)
  }

  /** Sends a request to an address that the server of the hub answers itself, and reads its answer. */
  async ask<T>(method: string, path: string, body?: object, signal?: AbortSignal): Promise<T> {
    const answer = await this.send(method, path, body, signal)
    return (await this.heard(() => answer.json(), signal)) as T
  }

  /** Sends a request; the caller reads the answer through `heard`. */
  async send(
    method: string,
    path: string,
    body?: object,
    signal?: AbortSignal,
    ms: number = usualMs,
  ): Promise<HttpAnswer> {
    // After a machine slept or changed its address, its old connections stay open but never deliver anything.
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(new Error(`nothing came within ${Math.round(ms / 1000)} s`)), ms)
    const either = signal ? AbortSignal.any([signal, late.signal]) : late.signal
    const answer = await this.#sent(method, path, body, { signal, either }).finally(() => clearTimeout(timer))
    if (answer.ok) return answer
    const { location } = answer.headers
    if (answer.status >= 300 && answer.status < 400 && location !== undefined) {
      answer.drop()
      throw new HubRefused(answer.status, elsewhereWords(this.url, location))
    }
    const why = await this.heard(() => saidIn(answer), signal)
    const skew = isStrange(answer.status, why) ? await this.skew(signal).catch(() => undefined) : undefined
    throw new HubRefused(answer.status, skew === undefined ? why : `${skew} It refused the request: ${why}`)
  }

  async #sent(
    method: string,
    path: string,
    body: object | undefined,
    {
      signal,
      either = signal ?? new AbortController().signal,
    }: { signal?: AbortSignal | undefined; either?: AbortSignal },
  ): Promise<HttpAnswer> {
    const isBytes = body instanceof Uint8Array
    const type = isBytes ? 'application/octet-stream' : 'application/json'
    const kind = body ? { 'content-type': type } : undefined
    const bytes = isBytes ? body : body && JSON.stringify(body)
    const once = async (key: object) => {
      const sent = { method, headers: { ...kind, ...key }, body: bytes, signal: either }
      return new HttpAnswer(await sendRequest(new URL(`${this.url}${path}`), sent, this.#env))
    }
    return this.heard(() => withKey(this.#source, once, (unread) => unread.drop()), signal)
  }

  /** Says which side has to be updated if the hub speaks a protocol other than ours. */
  async skew(signal?: AbortSignal): Promise<string | undefined> {
    const answer = await this.#sent('GET', '/api/version', undefined, { signal })
    if (!answer.ok && answer.status !== 404) return undefined
    const told = answer.ok ? ((await this.heard(() => answer.json(), signal)) as HubVersion) : {}
    return skewWords(told, { version, protocol: hubProtocol }, this.url)
  }

  /** Turns a connection failure, even in the middle of an answer, into HubAway. */
  async heard<T>(listen: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    try {
      return await listen()
    } catch (error) {
      if (signal?.aborted || error instanceof HubAway || error instanceof HubRefused) throw error
      const untrusted = certificateFault(error, this.url)
      if (untrusted !== undefined)
        throw new HubUntrusted(`the server at ${this.url} cannot be trusted: ${untrusted} Nothing was sent to it.`)
      throw new HubAway(`no hub answers at ${this.url}: ${messageOf(error)}`)
    }
  }

  /** A long answer, piece by piece. */
  async *pieces(asked: () => Promise<HttpAnswer>, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
    const answer = await asked()
    const pieces = answer.pieces()
    try {
      for (;;) {
        const { value, done } = await this.heard(() => pieces.next(), signal)
        if (done) return
        yield value
      }
    } finally {
      await pieces.return?.()
    }
  }
}

/** The longest time that an answer usually takes to begin. */
const usualMs = 60_000
/** How many seconds a wait lasts if it sets no time. */
const usualWait = 290

/** How long an operation's answer may take to begin. */
function patienceMs({ patience }: Operation, fields: object): number {
  if (patience !== 'wait') return patience === undefined ? usualMs : patience * 1000
  const { timeout } = fields as { timeout?: unknown }
  return (typeof timeout === 'number' ? timeout : usualWait) * 1000 + 30_000
}

/** The message about a server that redirects its callers, which a hub never does. */
function elsewhereWords(url: string, location: string): string {
  const place = URL.parse(location, url)
  return place && place.origin !== new URL(url).origin
    ? `${url} leads to ${place.origin}. Use that as the address of the hub.`
    : `${url} leads to ${location}, as a proxy does that wants a person to sign in. The hub must be reached without that: let the proxy pass requests with a key.`
}

/** Whether the hub refused because it does not know the operation or the field at all, as an older hub does. */
const isStrange = (status: number, why: string) =>
  (status === 400 && why.startsWith('there is no field')) || (status === 404 && why.startsWith('there is nothing at'))

async function saidIn(answer: HttpAnswer): Promise<string> {
  const text = await answer.text()
  try {
    const { error } = JSON.parse(text) as { error?: string | { message?: string } }
    return (typeof error === 'string' ? error : error?.message) ?? text
  } catch {
    return text || `the hub answered with HTTP ${answer.status}`
  }
}
