import { readKey } from './server-access.ts'

/** Supplies the key that a client of the hub sends. */
export interface KeySource {
  /** The key to send now; undefined if there is no key. */
  key(): Promise<string | undefined>
  /** Another key to try after the hub did not know `refused`; undefined if there is no other. */
  instead(refused: string | undefined): Promise<string | undefined>
}

/**
 * Sends a request with the key of a source in the header that a hub expects. If the hub does not know the key, sends the request once more
 * with another key.
 */
export async function withKey<Answer extends { status: number }>(
  source: KeySource,
  send: (headers: { authorization?: string }) => Promise<Answer>,
  drop: (unread: Answer) => unknown,
): Promise<Answer> {
  const headersFor = (key: string | undefined) => (key === undefined ? {} : { authorization: `Bearer ${key}` })
  const key = await source.key()
  const answer = await send(headersFor(key))
  const other = answer.status === 401 ? await source.instead(key) : undefined
  if (other === undefined) return answer
  await drop(answer)
  return send(headersFor(other))
}

export const fixedKey = (key: string | undefined): KeySource => ({
  key: async () => key,
  instead: async () => undefined,
})

/** Supplies the key in a file. The file is read for every request, because the process that wrote it may replace the key. */
export const keyInFile = (file: string): KeySource => ({
  key: async () => readKey(file),
  instead: async () => undefined,
})
