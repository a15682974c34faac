import { sha256 } from './hash.ts'

const letters = '0123456789abcdefghjkmnpqrstvwxyz'

/** Makes an id that is unique across processes and sorts by time: ten letters of time, sixteen random ones. */
export function newId(now: number): string {
  return inLetters(now, 10) + randomName()
}

/** Makes an id like `newId`, but with the hash of a name at its end: the same name gets the same id again. */
export function namedId(at: number, name: string): string {
  const bytes: Iterable<number> = sha256().update(name).digest().subarray(0, 16)
  return inLetters(at, 10) + [...bytes].map((byte) => letters[byte % 32]).join('')
}

/** The fewest letters of a shortened id: they contain its time to the second, so that an id of a later day does not begin with them. */
const fewestLetters = 8

/** Returns a function that shortens an id to the fewest letters with which no other of the ids begins. */
export function shortIds(ids: Iterable<string>): (id: string) => string {
  const sorted = [...new Set(ids)].sort()
  const places = new Map(sorted.map((id, at) => [id, at]))
  const shared = (a: string, b = '') => {
    let count = 0
    while (count < a.length && a[count] === b[count]) count++
    return count
  }
  return (id) => {
    const at = places.get(id)
    if (at === undefined) return id
    return id.slice(0, Math.max(fewestLetters, shared(id, sorted[at - 1]) + 1, shared(id, sorted[at + 1]) + 1))
  }
}

/** Makes a file name that no other process uses. */
export function randomName(): string {
  return chance() + chance()
}

/** Forty random bits. They do not come from node:crypto, which takes longer to load than the rest of this file. */
function chance(): string {
  return inLetters(Math.floor(Math.random() * 2 ** 40), 8)
}

function inLetters(value: number, count: number): string {
  let text = ''
  for (let rest = value, i = 0; i < count; i++, rest = Math.floor(rest / 32)) text = letters[rest % 32] + text
  return text
}
