import type { Clock } from '../../base/time/clock.ts'
import type { Trouble } from '../http/wire-format.ts'
import type { CloudWorld } from './cloud.ts'

/** A login with the moment at which it expires, in ms since 1970; a login without one does not expire. */
type Lasting<T> = { value: T; until?: number }

export type Fetched<T> = Lasting<T> | { trouble: Trouble }

/** A login is replaced this long before it expires, so that none expires during a request. */
const spareMs = 5 * 60_000

/** How long a server may take to issue a login. */
const answerMs = 30_000

/**
 * A login that expires and is fetched again: before it has expired, and once for all waiting requests. A cancelled request stops waiting,
 * and the others still get the login.
 */
export class ExpiringLogin<T> {
  readonly #fetch: (signal: AbortSignal) => Promise<Fetched<T>>
  readonly #clock: Clock
  #held: (Lasting<T> & { spare: number }) | undefined
  #coming: Promise<Fetched<T>> | undefined

  constructor(clock: Clock, fetch: (signal: AbortSignal) => Promise<Fetched<T>>) {
    this.#clock = clock
    this.#fetch = fetch
  }

  async get(signal: AbortSignal): Promise<{ value: T } | { trouble: Trouble }> {
    const held = this.#held
    if (held && this.#left(held) > held.spare) return held
    this.#coming ??= this.#fetched().finally(() => (this.#coming = undefined))
    const found = await Promise.race([this.#coming, untilCancelled(signal)])
    // The new login could not be fetched, but the old one is still valid.
    if ('trouble' in found && held && this.#held === held && this.#left(held) > 0 && !signal.aborted) return held
    return found
  }

  /** Drops a login that was refused. Returns whether there was one. */
  forget(): boolean {
    const had = this.#held !== undefined
    this.#held = undefined
    return had
  }

  #left({ until = Infinity }: Lasting<T>): number {
    return until - this.#clock.now()
  }

  async #fetched(): Promise<Fetched<T>> {
    const found = await this.#fetch(AbortSignal.timeout(answerMs)).catch((cause: unknown) => ({ trouble: { cause } }))
    if ('trouble' in found) return found
    // A login that is only valid for a few minutes is replaced after half of its time.
    this.#held = { ...found, spare: Math.min(spareMs, this.#left(found) / 2) }
    return found
  }
}

function untilCancelled(signal: AbortSignal): Promise<{ trouble: Trouble }> {
  return new Promise((resolve) => {
    const stop = () => resolve({ trouble: { cause: signal.reason } })
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}

/** The logins of this process, by the environment in which they were found, so that all models of a cloud share one. */
const shared = new WeakMap<object, Map<string, ExpiringLogin<any>>>()

/** Returns the login of that name; the first caller opens it. Different credentials must have different names. */
export function sharedLogin<T>(env: object, name: string, open: () => ExpiringLogin<T>): ExpiringLogin<T> {
  const logins = shared.get(env) ?? new Map<string, ExpiringLogin<any>>()
  shared.set(env, logins)
  const known = logins.get(name) ?? open()
  logins.set(name, known)
  return known as ExpiringLogin<T>
}

type Heard = { who: string; now: number; learn: CloudWorld['learn'] }

/** Parses the answer of a server that issues OAuth tokens. */
export function tokenIn(
  { status, headers }: { status: number; headers: Trouble['headers'] },
  body: string,
  { who, now, learn }: Heard,
): Fetched<string> {
  let said: any
  try {
    said = JSON.parse(body)
  } catch {
    said = undefined
  }
  if (typeof said?.access_token === 'string') {
    learn?.(who, said.access_token)
    return { value: said.access_token, until: now + Number(said.expires_in ?? 3600) * 1000 }
  }
  if (status >= 500 || status === 429) return { trouble: { status, headers, body } }
  const words = String(said?.error_description ?? said?.error?.message ?? said?.error ?? `status ${status}`).replace(
    /\.?\s*$/,
    '',
  )
  return { trouble: { status: 401, headers, body: { error: { message: words, code: said?.error } } } }
}
