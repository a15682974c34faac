import type { Aside, Heard, Reader, Sent, Trouble, Wire } from '../wire.ts'
import type { Reply, Send } from './send.ts'
import { eventData, lineData } from './events.ts'

const trouble = (trouble: Trouble): Heard => ({ type: 'trouble', trouble })

/** Sends one request and tells what is heard; it ends with an `end` or a `trouble`, and whoever leaves before closes the connection. */
export async function* hear(
  wire: Wire,
  sent: Sent,
  reader: Reader,
  send: Send,
  signal: AbortSignal,
): AsyncGenerator<Heard> {
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

const isLast = ({ type }: Heard) => type === 'end' || type === 'trouble'

/** Some proxies tell an error with a good status: its codes say what it is. */
const refusal = (status: number) => (status < 400 ? undefined : status)

/** Asks the same server something small beside the turn. */
export function asideOf(key: string | undefined, send: Send, signal: AbortSignal): Aside {
  return async (url, body) => {
    try {
      const headers = {
        ...(body ? { 'content-type': 'application/json' } : {}),
        ...(key ? { authorization: `Bearer ${key}` } : {}),
      }
      const response = await send(url, {
        method: body ? 'POST' : 'GET',
        headers,
        signal,
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
      return { status: response.status, body: await response.json().catch(() => undefined) }
    } catch {
      return undefined
    }
  }
}
