import type { Item } from './stock.ts'
import { inSlices } from './slices.ts'

/** Smaller is better: first the kind, then `by`. */
type Found = { path: string; kind: number; by: number }

const begins = 0
const named = 1
const alike = 2

/** The best of all: what begins as it was typed, then whose name does, then what resembles it. */
export async function best(
  items: readonly Item[],
  typed: string,
  most: number,
  signal: AbortSignal,
): Promise<string[]> {
  const { prepare, single } = await import('fuzzysort')
  const wanted = typed.replace(/^\.\//, '').toLowerCase()
  const words = wanted.split(/\s+/)
  let found: Found[] = []
  let sure = 0
  const whole = await inSlices(items, signal, ({ path, lower, depth }) => {
    const kind = lower.startsWith(wanted) ? begins : nameBegins(lower, wanted) ? named : alike
    // What was typed as a folder is there already: what lies in it is wanted.
    if (lower === wanted && path.endsWith('/')) return
    if (kind !== alike) sure++
    // Once enough is found that begins so, nothing that only resembles it can be among the best.
    const mayMatch = kind === alike && sure < most && words.every((word) => holds(lower, word))
    const match = mayMatch ? single(wanted, prepare(path)) : undefined
    if (kind !== alike || match) found.push({ path, kind, by: match ? -match.score : depth })
    if (found.length >= 8 * most) found = firstOf(found, most)
  })
  return whole ? firstOf(found, most).map(({ path }) => path) : []
}

/** Whether the letters of a word stand there in their order: only then is it worth a score, which costs far more. */
function holds(lower: string, word: string): boolean {
  let at = -1
  for (const letter of word) if ((at = lower.indexOf(letter, at + 1)) < 0) return false
  return true
}

function nameBegins(lower: string, wanted: string): boolean {
  return lower.startsWith(wanted, lower.lastIndexOf('/', lower.length - 2) + 1)
}

function firstOf(found: Found[], most: number): Found[] {
  return found.sort(better).slice(0, most)
}

/** Neighbours stand in the order of the alphabet; of those that only resemble, the shorter one is nearer. */
function better(a: Found, b: Found): number {
  const shorter = a.kind === alike ? a.path.length - b.path.length : 0
  return a.kind - b.kind || a.by - b.by || shorter || (a.path < b.path ? -1 : 1)
}
