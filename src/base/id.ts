import { sha256 } from './hash.ts'

const letters = '0123456789abcdefghjkmnpqrstvwxyz'

/** Makes an id that is unique over processes and sorts by time: ten letters of time, sixteen random ones. */
export function newId(now: number): string {
  return inLetters(now, 10) + randomName()
}

/** Makes an id as `newId` does, whose last letters are the hash of a name: the same name gets the same id again. */
export function namedId(at: number, name: string): string {
  const bytes: Iterable<number> = sha256().update(name).digest().subarray(0, 16)
  return inLetters(at, 10) + [...bytes].map((byte) => letters[byte % 32]).join('')
}

/** Makes a file name that no other process uses. */
export function randomName(): string {
  return chance() + chance()
}

/** Forty random bits. Not from node:crypto, which takes longer to load than the rest of this file's work. */
function chance(): string {
  return inLetters(Math.floor(Math.random() * 2 ** 40), 8)
}

function inLetters(value: number, count: number): string {
  let text = ''
  for (let rest = value, i = 0; i < count; i++, rest = Math.floor(rest / 32)) text = letters[rest % 32] + text
  return text
}
