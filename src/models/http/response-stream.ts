import type { Aside, WireEvent, Reader, WireRequest, Trouble, Wire } from '../wire-format.ts'
import type { Reply, Send } from './http-client.ts'
import { Lines } from '../../base/lines.ts'
import { bearer, headersOf } from '../wire-format.ts'

const trouble = (trouble: Trouble): WireEvent => ({ type: 'trouble', trouble })

/** Sends one request and yields the events of its answer, the last of which is an `end` or a `trouble`. A reader that leaves earlier closes the connection. */
export async function* responseStream(
  wire: Wire,
  sent: WireRequest,
  reader: Reader,
  send: Send,
  signal: AbortSignal,
): AsyncGenerator<WireEvent> {
  let response: Reply | undefined
  let whole = false
  try {
    const { url, headers, body } = sent
    response = await send(url, { method: 'POST', headers, body, signal })
    const { ok, status, headers: told, body: answer } = response
    const isObject = told.get('content-type')?.includes('application/json') && wire.framing === 'events'
    if (!ok || !answer || isObject)
      return yield trouble({ status: refusal(status), headers: told, body: await response.text() })
    const data = wire.framing === 'events' ? eventData(answer) : lineData(answer)
    for await (const one of data) {
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
    yield trouble({ cause })
  } finally {
    response?.leave?.(whole)
  }
}

const isLast = ({ type }: WireEvent) => type === 'end' || type === 'trouble'

/** Some proxies send an error with a good status; the codes in its body then say what it is. */
const refusal = (status: number) => (status < 400 ? undefined : status)

/** Sends small requests to the same server, beside the answer. */
export function asideOf(key: string | undefined, send: Send, signal: AbortSignal): Aside {
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
  // Some servers leave out the blank line after the last event; an unfinished line is no event.
  if (data.length > 0) yield data.join('\n')
}

/** Yields each line of a stream of JSON lines. */
async function* lineData(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  const lines = new Lines()
  for await (const chunk of chunks) yield* lines.push(decoder.decode(chunk, { stream: true }))
  yield* lines.end()
}
