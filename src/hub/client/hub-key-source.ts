import { readKey } from './server-access.ts'

/** Where a client of the hub takes its key from. */
export interface KeySource {
  /** The key to send now; undefined where there is none. */
  key(): Promise<string | undefined>
  /** Another key in place of one that the hub did not know; undefined where there is no other. */
  instead(refused: string | undefined): Promise<string | undefined>
}

/** Sends a request with the key of a source, as the header that a hub expects; where the hub does not know the key, once more with another one. */
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

/** The key in a file, which is read for every request, because the process that wrote it may write another one. */
export const keyInFile = (file: string): KeySource => ({
  key: async () => readKey(file),
  instead: async () => undefined,
})
