import type { Carriage, SideRequest, WireEvent, Reader, WireRequest, Trouble, Wire } from './wire-format.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Reply, Send } from './http-client.ts'
import { Lines } from '../../base/text/lines.ts'
import { bearer, headersOf } from './wire-format.ts'

const trouble = (trouble: Trouble): WireEvent => ({ type: 'trouble', trouble })

/** How requests are sent, and how long the server may be silent before the connection counts as broken. */
type Sending = { send: Send; clock: Clock; silenceMs: number }

/**
 * Sends one request and yields the events of its answer, the last of which is an `end` or a `trouble`. If the reader stops early, the
 * connection is closed.
 */
export async function* responseStream(
  { wire, carriage }: { wire: Wire; carriage?: Carriage },
  sent: WireRequest,
  reader: Reader,
  { send, clock, silenceMs }: Sending,
  signal: AbortSignal,
): AsyncGenerator<WireEvent> {
  let response: Reply | undefined
  let whole = false
  const silence = new SilenceWatch(clock, silenceMs)
  try {
    const { url, headers, body } = sent
    response = await send(url, { method: 'POST', headers, body, signal: AbortSignal.any([signal, silence.signal]) })
    silence.heard()
    const { ok, status, headers: told, body: answer } = response
    const isObject = told.get('content-type')?.includes('application/json') && wire.framing === 'events'
    if (!ok || !answer || isObject)
      return yield trouble({ status: refusal(status), headers: told, body: await response.text() })
    const chunks = silence.watching(answer)
    const data = carriage?.unpack?.(chunks) ?? (wire.framing === 'events' ? eventData(chunks) : lineData(chunks))
    for await (const one of data) {
      if (typeof one !== 'string') return yield trouble(one.trouble)
      for (const heard of reader.read(one)) {
        whole = heard.type === 'end'
        yield heard
        if (isLast(heard)) return
      }
    }
    for (const heard of reader.close()) {
      yield heard
      if (isLast(heard)) return
    }
    yield trouble({ cause: 'the answer was cut off in the middle' })
  } catch (cause) {
    // An answer that was complete when the connection broke is valid.
    for (const heard of signal.aborted ? [] : reader.close()) {
      yield heard
      if (isLast(heard)) return
    }
    yield trouble({ cause: silence.signal.aborted ? silence.signal.reason : cause })
  } finally {
    silence.end()
    response?.leave?.(whole)
  }
}

/** Breaks a connection that was silent for too long. */
class SilenceWatch {
  readonly #silent = new AbortController()
  readonly #over = new AbortController()
  readonly #clock: Clock
  #lastHeard: number

  constructor(clock: Clock, ms: number) {
    this.#clock = clock
    this.#lastHeard = clock.elapsed()
    void this.#watch(ms)
  }

  get signal(): AbortSignal {
    return this.#silent.signal
  }

  heard(): void {
    this.#lastHeard = this.#clock.elapsed()
  }

  async *watching(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      this.heard()
      yield chunk
    }
  }

  end(): void {
    this.#over.abort()
  }

  /** Ends the response after `ms` of silence; there is only one sleep at a time, however many chunks arrive. */
  async #watch(ms: number): Promise<void> {
    for (let left = ms; left > 0; left = this.#lastHeard + ms - this.#clock.elapsed()) {
      await this.#clock.sleep(left, this.#over.signal)
      if (this.#over.signal.aborted) return
    }
    this.#silent.abort(new Error(`nothing came for ${Math.round(ms / 1000)} s`))
  }
}

const isLast = ({ type }: WireEvent) => type === 'end' || type === 'trouble'

/** Some proxies send an error with a success status; then the codes in the body say what it is. */
const refusal = (status: number) => (status < 400 ? undefined : status)

/** Sends small requests to the same server, in addition to the answer. */
export function asideOf(key: string | undefined, send: Send, signal: AbortSignal): SideRequest {
  return async (url, body) => {
    try {
      const headers = headersOf({
        'content-type': body ? 'application/json' : undefined,
        authorization: bearer(key),
      })
      const response = await send(url, {
        method: body ? 'POST' : 'GET',
        headers,
        signal,
        body: body ? JSON.stringify(body) : undefined,
      })
      return { status: response.status, body: await response.json().catch(() => undefined) }
    } catch {
      return undefined
    }
  }
}

/** LF, CRLF or CR. A CR at the very end may be half of a CRLF: the next chunk decides. */
const lineEnds = /\r\n|\n|\r(?!$)/

/** Yields the data of each event of a text/event-stream, however its bytes are split into chunks. */
export async function* eventData(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  let data: string[] = []
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(lineEnds)
    rest = lines.pop()!
    for (const line of lines) {
      if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5))
      else if (line === '' && data.length > 0) {
        yield data.join('\n')
        data = []
      }
    }
  }
  // Some servers leave out the blank line after the last event; an unfinished line does not count as an event.
  if (data.length > 0) yield data.join('\n')
}

/** Yields each line of a stream of JSON lines. */
async function* lineData(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  const lines = new Lines()
  for await (const chunk of chunks) yield* lines.push(decoder.decode(chunk, { stream: true }))
  yield* lines.end()
}
