import { signal } from '@preact/signals'

/** How the page stands with its hub: `behind` while it reads what it missed. */
export type Standing = 'signed out' | 'connecting' | 'behind' | 'live' | 'offline'

export const standing = signal<Standing>('connecting')

/** Why the page is signed out or offline, in words for the person. */
export const trouble = signal('')

/** The secret of this origin that the hub asks for beside its cookie. */
const secretName = 'termaite-page'

export class HubRefusal extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Signs in by the link in the address, if there is one. The secret is taken out of the address at once. */
export async function signInByLink(): Promise<void> {
  const secret = /^#in=(.+)$/.exec(location.hash)?.[1]
  if (secret === undefined) return
  history.replaceState(null, '', `${location.pathname}#/inbox`)
  const entered = (await call('POST', '/api/sign-in', { link: secret })) as { page: string }
  localStorage.setItem(secretName, entered.page)
}

export function forgetSignIn(why: string): void {
  localStorage.removeItem(secretName)
  trouble.value = why
  standing.value = 'signed out'
}

/** Sends a request to the hub; throws a HubRefusal with the hub's own words where it is refused. */
export async function call(method: 'GET' | 'POST', path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(path, {
    method,
    headers: { ...proof(), ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    body: body === undefined ? null : JSON.stringify(body),
    credentials: 'same-origin',
  })
  if (response.ok) return response.json()
  throw await refusalOf(response)
}

function proof(): Record<string, string> {
  const secret = localStorage.getItem(secretName)
  return secret === null ? {} : { 'x-termaite-page': secret }
}

async function refusalOf(response: Response): Promise<HubRefusal> {
  const said = (await response.json().catch(() => ({}))) as { error?: string | { message?: string } }
  const words = typeof said.error === 'string' ? said.error : said.error?.message
  return new HubRefusal(response.status, words ?? `The hub answered with status ${response.status}.`)
}

type Listener = {
  /** Reads everything anew; returns the number of the last change that it holds. */
  load(): Promise<number>
  /** Called before each connection. */
  begin(): void
  take(type: string, data: string): number | undefined
}

const firstPauseMs = 500
const longestPauseMs = 15_000

/** Follows the hub's changes until the browser is signed out; a connection that is lost is made again, and nothing is missed. */
export async function followHub(listener: Listener): Promise<void> {
  for (let pauseMs = firstPauseMs, last: number | undefined; ;) {
    try {
      standing.value = last === undefined ? 'connecting' : 'behind'
      last ??= await listener.load()
      pauseMs = firstPauseMs
      last = await readChanges(last, listener)
    } catch (error) {
      if (error instanceof HubRefusal && error.status === 401) {
        forgetSignIn('This browser is not signed in, or its sign-in has ended.')
        return
      }
      trouble.value = error instanceof HubRefusal ? error.message : 'The hub cannot be reached.'
    }
    standing.value = 'offline'
    await pause(pauseMs)
    pauseMs = Math.min(longestPauseMs, pauseMs * 2)
  }
}

/** Reads the stream to its end; returns the last number, or undefined when the hub has forgotten changes in between. */
async function readChanges(after: number, { begin, take }: Listener): Promise<number | undefined> {
  begin()
  const response = await fetch('/api/events?turns', {
    headers: { ...proof(), 'last-event-id': String(after) },
    credentials: 'same-origin',
  })
  if (!response.ok || !response.body) throw await refusalOf(response)
  standing.value = 'live'
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let last = after
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return last
      const parts = (rest + value).split('\n\n')
      rest = parts.pop() ?? ''
      for (const part of parts) {
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(part)?.[1]
        const type = field('event')
        if (type === 'lost') return undefined
        if (type !== undefined) last = take(type, field('data') ?? '{}') ?? last
      }
    }
  } catch {
    // The connection broke: the next one goes on after the last change that was read.
    return last
  }
}

/** Waits, and less long when the network comes back or the person looks at the page again. */
function pause(ms: number): Promise<void> {
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
