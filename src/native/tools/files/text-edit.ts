export type Edit = { old_string: string; new_string: string; replace_all?: boolean }

/** A text after an edit: how many places were replaced, and on which lines trailing white space was ignored. */
export type Edited = { text: string; places: number; forgiven: number[] }

/**
 * Applies an edit to a text; throws an error that tells the model why it is impossible. If old_string occurs nowhere, it is searched for
 * again without white space at line ends, which models lose. No other difference is ignored, because white space elsewhere is significant
 * in many languages.
 */
export function applyEdit(text: string, { old_string, new_string, replace_all = false }: Edit): Edited {
  const [old, fresh] = [plainEndings(old_string), plainEndings(new_string)]
  if (old === '') throw new Error('old_string is empty: send the text to replace.')
  if (old === fresh) throw new Error('old_string and new_string are the same: nothing would change.')
  const endings = new LineEndings(text)
  const { plain } = endings
  const exact = placesOf(plain, old)
  const places = exact.length > 0 ? exact : placesWithoutTrailingSpace(plain, old)
  if (places.length === 0) throw new Error(`old_string is not in the file. ${nearestLines(plain, old)}`)
  // Without replace_all, a second place that overlaps the first also makes the edit ambiguous.
  if (!replace_all && (places.length > 1 || plain.indexOf(old, places[0]!.from + 1) >= 0)) {
    const lines = exact.length > 0 ? linesOf(plain, old) : places.map(({ from }) => lineAt(plain, from))
    const many = lines.length > mostPlaces ? `more than ${mostPlaces}` : `${lines.length}`
    const where = lines.slice(0, mostPlaces).join(', ')
    throw new Error(
      `old_string is in ${many} places, on lines ${where}. Add lines around the one that you mean, or set replace_all to change all of them.`,
    )
  }
  return {
    text: endings.replaced(places.map((place) => ({ ...place, fresh }))),
    places: places.length,
    forgiven: exact.length > 0 ? [] : places.flatMap((place) => linesWithTrailingSpace(plain, place, old)),
  }
}

/** A range of a text, from its first character up to the one after its last. */
type Span = { from: number; to: number }

/** A range of a text, and the text that replaces it. */
export type Replacement = Span & { fresh: string }

function placesOf(text: string, wanted: string): Span[] {
  const found: Span[] = []
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length))
    found.push({ from: at, to: at + wanted.length })
  return found
}

/**
 * Finds a text, ignoring trailing spaces and tabs and a missing last line end. A range that ends at a line's end includes the white space
 * there, because the model wanted to replace the line that it saw.
 */
function placesWithoutTrailingSpace(text: string, wanted: string): Span[] {
  const bare = withoutTrailingSpace(wanted)
  if (bare.trim() === '') return []
  const [kept, lean] = keptOffsets(text)
  const endsLine = bare !== wanted && !wanted.endsWith('\n')
  const spans = placesOf(lean, bare)
    .filter(({ to }) => !endsLine || to === lean.length || lean[to] === '\n')
    .map(({ from, to }) => {
      const last = kept[to - 1]! + 1
      const isLineEnd = to === lean.length || lean[to] === '\n'
      return { from: kept[from]!, to: isLineEnd ? lineEnd(text, last) : last }
    })
  if (spans.length > 0 || !wanted.endsWith('\n')) return spans
  // The last line of a file may lack its line end.
  const open = bare.slice(0, -1)
  if (open.trim() === '' || !lean.endsWith(open)) return []
  return [{ from: kept[lean.length - open.length]!, to: text.length }]
}

const trailingSpace = /[ \t]+(?=\n|$)/g

const withoutTrailingSpace = (text: string) => text.replace(trailingSpace, '')

/** A text without white space at line ends, and the offset of each of its characters in the original text. */
function keptOffsets(text: string): [number[], string] {
  const kept: number[] = []
  let at = 0
  for (const { index, 0: space } of text.matchAll(trailingSpace)) {
    for (; at < index; at++) kept.push(at)
    at += space.length
  }
  for (; at < text.length; at++) kept.push(at)
  return [kept, withoutTrailingSpace(text)]
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end < 0 ? text.length : end
}

/** The numbers of the lines in a range whose end differs from the line that the model sent; a missing last line end counts too. */
function linesWithTrailingSpace(text: string, { from, to }: Span, wanted: string): number[] {
  const first = lineAt(text, from)
  const [lines, sent] = [text.slice(from, to).split('\n'), wanted.split('\n')]
  return lines.flatMap((line, i) =>
    line === sent[i] && !(i === lines.length - 1 && sent.length > lines.length) ? [] : [first + i],
  )
}

const lineAt = (text: string, at: number) => text.slice(0, at).split('\n').length

const mostPlaces = 20

/** The numbers of the lines at which `wanted` begins, up to one more than are shown. */
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
 * A text with plain line ends, for comparison with a model's text, and the mapping to the file's own line ends. Lines that an edit does
 * not change keep theirs.
 */
export class LineEndings {
  readonly plain: string
  #text: string
  /** The offsets in the plain text at which a carriage return was removed. */
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

  /** The original text, in which ranges of the plain text were replaced in order. */
  replaced(places: readonly Replacement[]): string {
    const parts: string[] = []
    let done = 0
    for (const place of places) {
      const [from, to] = [this.#back(place.from), this.#back(place.to)]
      parts.push(this.#text.slice(done, from), place.fresh.replaceAll('\n', this.#ending(from, to)))
      done = to
    }
    return parts.join('') + this.#text.slice(done)
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

/** Helps the model to send the right text: shows where the file has the text with different white space, or the most similar lines. */
export function nearestLines(text: string, wanted: string): string {
  const lines = text.split('\n')
  const want = wanted.replace(/^\n+|\n+$/g, '').split('\n')
  const spaced = lines.findIndex((_line, i) => want.every((line, j) => bare(lines[i + j] ?? '') === bare(line)))
  if (spaced >= 0) return `The file has it with different white space:\n${numberedLines(lines, spaced, want.length)}`
  const [at, likeness] = mostAlike(lines, want)
  if (likeness < 0.4) return 'Nothing in the file is like it. Read the file again.'
  return `The most similar lines are:\n${numberedLines(lines, Math.max(0, at - 1), want.length + 2)}`
}

const bare = (line: string) => line.replace(/\s+/g, '')

/** Finds the line that is most similar to the longest wanted line; returns where the wanted lines would begin, and the similarity. */
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

/** Lines of a file with their numbers, for a message to the model. */
export function numberedLines(lines: readonly string[], from: number, count: number): string {
  const part = lines.slice(from, from + Math.min(count, mostShown))
  return part.map((line, i) => `${from + i + 1}:${line.slice(0, 300)}`).join('\n')
}
