export type Edit = { old_string: string; new_string: string }

/** Applies an edit to a text; throws an error that tells the model why it cannot be made. */
export function applyEdit(text: string, { old_string, new_string }: Edit): string {
  const [old, fresh] = [plainEndings(old_string), plainEndings(new_string)]
  if (old === '') throw new Error('old_string is empty: send the text to replace.')
  if (old === fresh) throw new Error('old_string and new_string are the same: nothing would change.')
  const endings = new LineEndings(text)
  const { plain } = endings
  const at = plain.indexOf(old)
  if (at < 0) throw new Error(`old_string is not in the file. ${nearestLines(plain, old)}`)
  if (plain.indexOf(old, at + 1) < 0) return endings.replaced(at, old.length, fresh)
  const places = linesOf(plain, old)
  const many = places.length > mostPlaces ? `more than ${mostPlaces}` : `${places.length}`
  const where = places.slice(0, mostPlaces).join(', ')
  throw new Error(`old_string is in ${many} places, on lines ${where}. Add lines around the one that you mean.`)
}

const mostPlaces = 20

/** The numbers of the lines where `wanted` begins, up to one more than are shown. */
function linesOf(text: string, wanted: string): number[] {
  const found: number[] = []
  let line = 1
  let from = 0
  for (let at = text.indexOf(wanted); at >= 0 && found.length <= mostPlaces; at = text.indexOf(wanted, at + 1)) {
    for (let end = text.indexOf('\n', from); end >= 0 && end < at; end = text.indexOf('\n', from)) {
      line++
      from = end + 1
    }
    found.push(line)
  }
  return found
}

/**
 * A text with plain line ends, for matching what a model sends, and the way back to the file's own line ends.
 * Lines that an edit does not touch keep theirs.
 */
export class LineEndings {
  readonly plain: string
  #text: string
  /** The offsets in the plain text where a carriage return was removed. */
  #returns: number[] = []
  #usual: '\n' | '\r\n'

  constructor(text: string) {
    this.#text = text
    this.plain = text.replaceAll('\r\n', (_pair, at: number) => {
      this.#returns.push(at - this.#returns.length)
      return '\n'
    })
    const lines = this.plain.split('\n').length - 1
    this.#usual = this.#returns.length * 2 > lines ? '\r\n' : '\n'
  }

  /** The original text with a range of the plain text replaced. */
  replaced(at: number, length: number, plain: string): string {
    const [from, to] = [this.#back(at), this.#back(at + length)]
    return this.#text.slice(0, from) + plain.replaceAll('\n', this.#ending(from, to)) + this.#text.slice(to)
  }

  /** The line end of the replaced lines, or the file's most common one if the range has no line end. */
  #ending(from: number, to: number): string {
    const old = this.#text.slice(from, to)
    if (!old.includes('\n')) return this.#usual
    return old.includes('\r\n') ? '\r\n' : '\n'
  }

  /** Turns an offset in the plain text into one in the original text. */
  #back(at: number): number {
    let [low, high] = [0, this.#returns.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#returns[middle]! < at) low = middle + 1
      else high = middle
    }
    return at + low
  }
}

export const plainEndings = (text: string) => text.replaceAll('\r\n', '\n')

const mostShown = 12

/** Helps the model to send the right text: shows where the file has it with other white space, or the most similar lines. */
export function nearestLines(text: string, wanted: string): string {
  const lines = text.split('\n')
  const want = wanted.replace(/^\n+|\n+$/g, '').split('\n')
  const spaced = lines.findIndex((_line, i) => want.every((line, j) => bare(lines[i + j] ?? '') === bare(line)))
  if (spaced >= 0) return `The file has it with other white space:\n${shown(lines, spaced, want.length)}`
  const [at, likeness] = mostAlike(lines, want)
  if (likeness < 0.4) return 'Nothing in the file is like it. Read the file again.'
  return `The most similar lines are:\n${shown(lines, Math.max(0, at - 1), want.length + 2)}`
}

const bare = (line: string) => line.replace(/\s+/g, '')

/** Finds the line most similar to the longest wanted line; returns where the wanted lines would begin, and the similarity. */
function mostAlike(lines: readonly string[], want: readonly string[]): [number, number] {
  const longest = want.reduce((best, line, i) => (line.trim().length > want[best]!.trim().length ? i : best), 0)
  const words = wordsIn(want[longest]!)
  let best: [number, number] = [0, 0]
  for (const [i, line] of lines.entries()) {
    const likeness = alike(words, wordsIn(line.slice(0, 500)))
    if (likeness > best[1]) best = [Math.max(0, i - longest), likeness]
  }
  return best
}

const wordsIn = (line: string) => line.match(/\w+|[^\w\s]/g) ?? []

/** The share of words that two lists have in common, from 0 to 1. */
function alike(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return 0
  const left = new Map<string, number>()
  for (const word of a) left.set(word, (left.get(word) ?? 0) + 1)
  let common = 0
  for (const word of b) {
    const count = left.get(word) ?? 0
    if (count === 0) continue
    left.set(word, count - 1)
    common++
  }
  return (2 * common) / (a.length + b.length)
}

function shown(lines: readonly string[], from: number, count: number): string {
  const part = lines.slice(from, from + Math.min(count, mostShown))
  return part.map((line, i) => `${from + i + 1}:${line.slice(0, 300)}`).join('\n')
}
