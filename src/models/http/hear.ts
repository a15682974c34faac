import type { Aside, Heard, Reader, Sent, Trouble, Wire } from '../wire.ts'
import { eventData, lineData } from './events.ts'

const trouble = (trouble: Trouble): Heard => ({ type: 'trouble', trouble })

/** Sends one request and tells what is heard; it ends with an `end` or a `trouble`, and whoever leaves early closes the connection. */
export async function* hear(
  wire: Wire,
  sent: Sent,
  reader: Reader,
  fetch: typeof globalThis.fetch,
  signal: AbortSignal,
): AsyncGenerator<Heard> {
  try {
    const { url, headers, body } = sent
    const response = await fetch(url, { method: 'POST', headers, body, signal })
    const type = response.headers.get('content-type') ?? ''
    const told = !response.ok || !response.body || (type.includes('application/json') && wire.framing === 'events')
    if (told)
      return yield trouble({ status: refusal(response.status), headers: response.headers, body: await response.text() })
    const data = wire.framing === 'events' ? eventData(response.body) : lineData(response.body)
    for await (const one of data) {
      for (const heard of reader.read(one)) {
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
  }
}

const isLast = ({ type }: Heard) => type === 'end' || type === 'trouble'

/** Some proxies tell an error with a good status: its codes say what it is. */
const refusal = (status: number) => (status < 400 ? undefined : status)

/** Asks the same server something small beside the turn. */
export function asideOf(key: string | undefined, fetch: typeof globalThis.fetch, signal: AbortSignal): Aside {
  return async (url, body) => {
    try {
      const headers = {
        ...(body ? { 'content-type': 'application/json' } : {}),
        ...(key ? { authorization: `Bearer ${key}` } : {}),
      }
      const response = await fetch(url, {
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
