import type { AnswerOf, OperationName, SentFields } from '../../../hub/model/operations/operations.ts'
import type { HubRequest } from './page-request.ts'
import { signal } from '@preact/signals'
import { silenceMs } from '../../heartbeat.ts'
import { streamEvents } from './event-text.ts'
import { checkVersion } from './installed-page.ts'

/** The state of the page's connection to its hub: `behind` while it reads what it missed. */
type Standing = 'signed out' | 'connecting' | 'behind' | 'live' | 'offline'

export const standing = signal<Standing>('connecting')

/** Why the page is signed out or offline, as a message for the person. */
export const trouble = signal('')

/** The key in `localStorage` of the secret that the hub requires in addition to its cookie. */
const secretName = 'termaite-page'

export class HubRefusal extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** The secret of the link, until the hub has answered. */
let linkSecret: string | undefined

/** Signs in with the link in the address, if there is one. The secret is removed from the address at once. */
export async function signInByLink(): Promise<void> {
  const found = /^#in=(.+)$/.exec(location.hash)?.[1]
  if (found !== undefined) {
    linkSecret = found
    history.replaceState(null, '', `${location.pathname}#/inbox`)
  }
  if (linkSecret === undefined) return
  const entered = (await send('POST', '/api/sign-in', { link: linkSecret })) as { page: string }
  localStorage.setItem(secretName, entered.page)
}

export function forgetSignIn(why: string): void {
  localStorage.removeItem(secretName)
  trouble.value = why
  standing.value = 'signed out'
}

/** When a page is left, browsers still send at most 64 kB. */
const longestKept = 16_000

/** Performs an operation of the hub; throws a HubRefusal with the hub's message if the hub refuses. */
export async function call<N extends OperationName>(to: HubRequest<N>, fields?: SentFields<N>): Promise<AnswerOf<N>> {
  const { method, path } = to
  if (method === 'POST') return (await send(method, path, fields ?? {})) as AnswerOf<N>
  const query = new URLSearchParams(fields as Record<string, string>).toString()
  return (await send(method, query === '' ? path : `${path}?${query}`)) as AnswerOf<N>
}

async function send(method: 'GET' | 'POST', path: string, body?: unknown): Promise<unknown> {
  const text = body === undefined ? null : JSON.stringify(body)
  const response = await fetch(path, {
    method,
    headers: { ...proof(), ...(text === null ? {} : { 'content-type': 'application/json' }) },
    body: text,
    credentials: 'same-origin',
    // The person's last act is sent even if the page is left meanwhile.
    keepalive: text !== null && text.length < longestKept,
  })
  if (response.ok) return response.json()
  throw await refusalOf(response)
}

/** Opens a text of the hub, such as the diff of a try, to be read while it arrives. */
export async function openText({ path }: HubRequest, signal?: AbortSignal): Promise<Response> {
  const response = await fetch(path, { headers: proof(), credentials: 'same-origin', ...(signal ? { signal } : {}) })
  if (response.ok) return response
  throw await refusalOf(response)
}

/**
 * The page's own secret. A browser that did not sign in with a link sends a fixed word instead: if the proxy in front of the hub has
 * signed the person in, the word proves that a script of this page makes the request, and not a page of another site.
 */
export const pageSecret = () => localStorage.getItem(secretName) ?? 'none'

export const proof = (): Record<string, string> => ({ 'x-termaite-page': pageSecret() })

export async function refusalOf(response: Response): Promise<HubRefusal> {
  const said = (await response.json().catch(() => ({}))) as { error?: string | { message?: string } }
  const words = typeof said.error === 'string' ? said.error : said.error?.message
  return new HubRefusal(response.status, words ?? `The hub answered with status ${response.status}.`)
}

type Listener = {
  /** Reads the whole state again; returns the id of the last change that the result includes. */
  load(): Promise<string>
  /** Called before each connection. */
  begin(): void
  take(type: string, data: string): void
}

/** The pause before the first attempt to reconnect, and the longer pause after each failed attempt. */
export const firstPauseMs = 500
export const longerPause = (ms: number) => Math.min(15_000, ms * 2)

/** How often a connection is checked for silence. */
export const watchMs = 5_000

/** Repeats a request to the hub until it answers: a page that is opened while the hub is unreachable keeps its sign-in and waits. */
export async function untilReached<T>(ask: () => Promise<T>): Promise<T> {
  for (let pauseMs = firstPauseMs; ; pauseMs = longerPause(pauseMs)) {
    try {
      return await ask()
    } catch (error) {
      // If the hub is unreachable, a proxy answers with a status of 500 or more.
      if (error instanceof HubRefusal && error.status < 500) throw error
      trouble.value = 'The hub cannot be reached.'
    }
    standing.value = 'offline'
    await pause(pauseMs)
  }
}

/** Follows the hub's changes until the browser is signed out; reconnects after a lost connection without missing a change. */
export async function followHub(listener: Listener): Promise<void> {
  for (let pauseMs = firstPauseMs, last: string | undefined; ;) {
    try {
      standing.value = last === undefined ? 'connecting' : 'behind'
      last ??= await listener.load()
      pauseMs = firstPauseMs
      last = await readChanges(last, listener)
    } catch (error) {
      if (error instanceof HubRefusal && error.status === 401) {
        forgetSignIn('This browser is not signed in, or its sign-in is no longer valid.')
        return
      }
      trouble.value = error instanceof HubRefusal ? error.message : 'The hub cannot be reached.'
    }
    standing.value = 'offline'
    await pause(pauseMs)
    pauseMs = longerPause(pauseMs)
  }
}

/** Reads the stream to its end; returns the id of the last change, or undefined if the hub no longer has all changes in between. */
async function readChanges(after: string, { begin, take }: Listener): Promise<string | undefined> {
  begin()
  const silence = new AbortController()
  let heard = Date.now()
  const watch = setInterval(() => Date.now() - heard > silenceMs && silence.abort(), watchMs)
  try {
    const response = await fetch('/api/events?turns&brief', {
      headers: { ...proof(), 'last-event-id': after },
      credentials: 'same-origin',
      signal: silence.signal,
    })
    if (!response.ok || !response.body) throw await refusalOf(response)
    checkVersion(response.headers.get('x-termaite-version'))
    standing.value = 'live'
    return await readStream(response.body, after, take, () => (heard = Date.now()))
  } finally {
    clearInterval(watch)
  }
}

/** Reads a stream of changes to its end; `hear` is called for every piece that arrives. */
async function readStream(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  after: string,
  take: Listener['take'],
  hear: () => void,
): Promise<string | undefined> {
  let last = after
  try {
    for await (const { type, data, id } of streamEvents(body, hear)) {
      if (type === 'lost') return undefined
      take(type, data)
      // Events about turns and about the state of agents have no id.
      last = id ?? last
    }
    return last
  } catch {
    // The connection broke: the next one continues after the last change that was read.
    trouble.value = 'The hub cannot be reached.'
    return last
  }
}

/** Waits, but no longer than until the network comes back or the person looks at the page again. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const over = new AbortController()
    const done = () => {
      over.abort()
      resolve()
    }
    setTimeout(done, ms)
    addEventListener('online', done, { signal: over.signal })
    document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && done(), {
      signal: over.signal,
    })
  })
}
