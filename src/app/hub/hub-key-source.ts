import type { Io } from '../../core/io.ts'
import { fetchFor } from '../../base/proxied-fetch.ts'
import { readKey } from '../server-access.ts'

/** Where a client of the hub takes its key from. */
export interface KeySource {
  /** The key to send now; undefined where there is none. */
  key(): Promise<string | undefined>
  /** Another key in place of one that the hub did not know; undefined where there is no other. */
  instead(refused: string | undefined): Promise<string | undefined>
}

/**
 * Sends a request with the key of a source; where the hub does not know the key, once more with another one. A hub elsewhere is
 * reached through the proxy of the environment.
 */
export async function fetchWithKey(
  source: KeySource,
  url: string | URL,
  init: RequestInit = {},
  env: Io['env'] = {},
): Promise<Response> {
  const fetch = fetchFor(env)
  const send = (key: string | undefined) => {
    const headers = new Headers(init.headers)
    if (key !== undefined) headers.set('authorization', `Bearer ${key}`)
    return fetch(url, { ...init, headers })
  }
  const key = await source.key()
  const answer = await send(key)
  if (answer.status !== 401) return answer
  const other = await source.instead(key)
  if (other === undefined) return answer
  await answer.body?.cancel()
  return send(other)
}

export const fixedKey = (key: string | undefined): KeySource => ({
  key: async () => key,
  instead: async () => undefined,
})

/** The key in a file, which is read for every request, because the process that wrote it may write another one. */
export const keyInFile = (file: string): KeySource => ({
  key: async () => readKey(file),
  instead: async () => undefined,
})
