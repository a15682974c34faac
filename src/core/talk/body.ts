import type { Entry, Fact } from './entry.ts'
import type { Blobs } from './store.ts'
import { readText } from './store.ts'

/** A line of a log stays small; what is longer goes to a blob whole. */
export const longestBody = 64 * 1024

const headChars = 32 * 1024
const tailChars = 8 * 1024

/** The head and the tail of a long text, with where the whole is. */
export function cut(text: string, place: string | undefined): string {
  if (text.length <= headChars + tailChars) return text
  return joinCut(text.slice(0, headChars), text.slice(-tailChars), text.length - headChars - tailChars, place)
}

/** For a writer that kept only the two ends of what went by. */
export function joinCut(head: string, tail: string, missing: number, place: string | undefined): string {
  const where = place ? `; the whole is in ${place}` : ''
  return `${head}\n[… ${missing} characters cut${where} …]\n${tail}`
}

export const cutEnds = { headChars, tailChars }

/** The fact as it goes into the log: a long body is cut, and `whole` says where all of it is. */
export async function shortened(fact: Fact, blobs: Blobs): Promise<Fact> {
  if (fact.whole) return fact
  if ('text' in fact && fact.text.length > longestBody) {
    const whole = await blobs.put(fact.text, 'text/plain')
    return { ...fact, text: cut(fact.text, blobs.place(whole)), whole }
  }
  if (fact.type === 'call') {
    const input = JSON.stringify(fact.input) ?? 'null'
    if (input.length <= longestBody) return fact
    const whole = await blobs.put(input, 'application/json')
    return { ...fact, input: cut(input, blobs.place(whole)), whole }
  }
  if (fact.type === 'end' && fact.outcome.ok && fact.outcome.text.length > longestBody) {
    const whole = fact.outcome.whole ?? (await blobs.put(fact.outcome.text, 'text/plain'))
    return { ...fact, outcome: { ...fact.outcome, text: cut(fact.outcome.text, blobs.place(whole)), whole } }
  }
  return fact
}

/** The entry with its whole body, for whoever needs every byte of it. */
export async function wholeEntry(entry: Entry, blobs: Blobs): Promise<Entry> {
  if (!entry.whole) return entry
  const { whole, ...rest } = entry
  const body = await readText(blobs, whole)
  return (entry.type === 'call' ? { ...rest, input: JSON.parse(body) } : { ...rest, text: body }) as Entry
}
