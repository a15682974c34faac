import type { Hunk, HunkLine } from './patch-text.ts'
import type { Replacement } from './text-edit.ts'
import { LineEndings, nearestLines, numberedLines } from './text-edit.ts'

/** A text after its hunks; `forgiven` are the lines that only matched when trailing white space was ignored. */
type Patched = { text: string; forgiven: number[] }

/**
 * Applies the hunks of one file, each to the text as it was before the patch. Lines that a hunk only names as context stay unchanged,
 * byte for byte. Throws an error that says which hunk cannot be applied, what the file has there now, and what to send.
 */
export function applyHunks(text: string, hunks: readonly Hunk[]): Patched {
  const endings = new LineEndings(text)
  const file = new FileLines(endings.plain)
  const changes: Change[] = []
  const forgiven = new Set<number>()
  let from = 0
  for (const [i, hunk] of hunks.entries()) {
    const name = hunks.length === 1 ? 'the hunk' : `hunk ${i + 1} of ${hunks.length}`
    const at = placeOf(hunk, file, from, name)
    const old = hunk.lines.filter(({ sign }) => sign !== '+')
    const made = changesOf(hunk, at)
    const named = { from: at, to: at + old.length }
    // A line that an earlier hunk removes cannot be named again; lines around a pure addition can.
    const earlier = changes.find(
      (one) => (one.to > one.from && isOverlap(one, named)) || made.some((change) => isOverlap(one, change)),
    )
    if (earlier)
      throw new Error(
        `${name} names lines that an earlier hunk changes, at line ${earlier.from + 1}. Join the two into one hunk: all hunks are found in the file as it was before the patch.`,
      )
    for (const [j, { text: sent }] of old.entries()) if (file.lines[at + j] !== sent) forgiven.add(at + j + 1)
    changes.push(...made)
    from = Math.max(from, at + old.length)
  }
  const after = endings.replaced(joinChanges(changes).map((change) => file.replacement(change)))
  if (after === text) throw new Error('its hunks change nothing: the lines with "-" and "+" are the same.')
  return { text: after, forgiven: [...forgiven].sort((a, b) => a - b) }
}

/** A change: the lines from `from` up to before `to`, counted from 0, are replaced by `added`. */
type Change = { from: number; to: number; added: string[] }

const isOverlap = (a: Pick<Change, 'from' | 'to'>, b: Pick<Change, 'from' | 'to'>) => a.from < b.to && b.from < a.to

/** The changes in the order of the file; neighbours are joined. Pure additions at one place stay in the order of the patch. */
function joinChanges(changes: readonly Change[]): Change[] {
  const all: Change[] = []
  for (const change of changes.toSorted((a, b) => a.from - b.from || a.to - b.to)) {
    const last = all.at(-1)
    if (last?.to !== change.from) all.push({ ...change })
    else all.splice(-1, 1, { from: last.from, to: change.to, added: [...last.added, ...change.added] })
  }
  return all
}

/** The changes of a hunk that begins at a line: each run of "-" and "+" lines is one change, so that the lines between them stay. */
function changesOf({ lines }: Hunk, at: number): Change[] {
  const changes: Change[] = []
  let [line, open]: [number, Change | undefined] = [at, undefined]
  for (const { sign, text } of lines) {
    if (sign === ' ') {
      line++
      open = undefined
      continue
    }
    if (!open) changes.push((open = { from: line, to: line, added: [] }))
    if (sign === '+') open.added.push(text)
    else open.to = ++line
  }
  return changes
}

/** A text as lines, whose last one may lack its line end. */
class FileLines {
  readonly lines: string[]
  #starts: number[] = []
  #length: number
  #open: boolean

  constructor(plain: string) {
    this.lines = plain === '' ? [] : plain.split('\n')
    this.#length = plain.length
    this.#open = plain !== '' && !plain.endsWith('\n')
    if (plain.endsWith('\n')) this.lines.pop()
    let at = 0
    for (const line of this.lines) {
      this.#starts.push(at)
      at += line.length + 1
    }
  }

  /** A change as a range of characters. If the file's last line has no line end, that stays so. */
  replacement({ from, to, added }: Change): Replacement {
    const start = (line: number) => this.#starts[line] ?? this.#length
    const body = added.map((line) => `${line}\n`).join('')
    const span = { from: start(from), to: start(to) }
    if (!this.#open || to < this.lines.length) return { ...span, fresh: body }
    const bare = body.replace(/\n$/, '')
    return { ...span, fresh: from === this.lines.length && bare !== '' ? `\n${bare}` : bare }
  }

  /** All lines at which `wanted` begins; if no line matches, those that only differ in trailing white space. */
  find(wanted: readonly string[], from = 0): number[] {
    const exact = this.#matches(wanted, from, (line) => line)
    return exact.length > 0 ? exact : this.#matches(wanted, from, (line) => line.trimEnd())
  }

  #matches(wanted: readonly string[], from: number, form: (line: string) => string): number[] {
    const want = wanted.map(form)
    const found: number[] = []
    for (let at = from; at + want.length <= this.lines.length; at++)
      if (want.every((line, i) => form(this.lines[at + i]!) === line)) found.push(at)
    return found
  }

  /** The line below an anchor: the first line that equals the anchor except for indentation, otherwise the first that contains it. */
  below(anchor: string, from: number): number | undefined {
    const bare = this.lines.map((line) => line.trim())
    const whole = bare.findIndex((line, at) => at >= from && line === anchor)
    const at = whole >= 0 ? whole : bare.findIndex((line, at) => at >= from && line.includes(anchor))
    return at < 0 ? undefined : at + 1
  }
}

/** Finds the line at which a hunk begins. Without "@@ line" there must be only one such place. */
function placeOf(hunk: Hunk, file: FileLines, from: number, name: string): number {
  const old = hunk.lines.flatMap(({ sign, text }) => (sign === '+' ? [] : [text]))
  const start = searchStart(hunk, file, from)
  if (old.length === 0) {
    if (start !== undefined && hunk.anchors.length > 0) return start
    if (hunk.atEnd || file.lines.length === 0) return file.lines.length
    throw new Error(
      hunk.anchors.length > 0
        ? `${name}: the file has no line "${hunk.anchors.at(-1)}". ${nearestLines(file.lines.join('\n'), hunk.anchors.at(-1)!)}\nName a line after "@@" as it is in the file.`
        : `${name} has only "+" lines, so its place is not known. Add the line above them with a space before it, or name that line after "@@".`,
    )
  }
  const all = file.find(old)
  if (hunk.atEnd && all.includes(file.lines.length - old.length)) return file.lines.length - old.length
  const below = start === undefined ? [] : file.find(old, start)
  // With an anchor, the first place below it counts.
  if (below.length === 1 || (below.length > 0 && hunk.anchors.length > 0)) return below[0]!
  const places = below.length > 1 ? below : all
  if (places.length === 1) return places[0]!
  if (places.length === 0) throw new Error(`${name} ${missing(hunk.lines, old, file)}`)
  throw new Error(
    `${name} fits in ${places.length} places, at lines ${places
      .slice(0, 20)
      .map((at) => at + 1)
      .join(
        ', ',
      )}. Name a line above the one that you mean after "@@", such as its function, or add lines around the change.`,
  )
}

/** Where the search for a hunk begins: below its anchors, or below the previous hunk. Undefined if an anchor is missing from the file. */
function searchStart({ anchors }: Hunk, file: FileLines, from: number): number | undefined {
  const follow = (begin: number) =>
    anchors.reduce<number | undefined>((at, anchor) => (at === undefined ? undefined : file.below(anchor, at)), begin)
  return follow(from) ?? follow(0)
}

/** Shows the first line that differs, because a model that only sees similar lines does not find its mistake. */
function missing(lines: readonly HunkLine[], old: readonly string[], file: FileLines): string {
  let [best, length] = [0, 0]
  for (let at = 0; at < file.lines.length; at++) {
    let same = 0
    while (same < old.length && file.lines[at + same]?.trimEnd() === old[same]!.trimEnd()) same++
    if (same > length) [best, length] = [at, same]
  }
  const kept = lines.some(({ sign }) => sign === ' ') ? 'lines with " " or "-"' : 'lines with "-"'
  const again = `Send the patch again with its ${kept} exactly as they are in the file.`
  if (length === 0) {
    const near = nearestLines(file.lines.join('\n'), old.join('\n'))
    return `is not in the file. ${near}${near.endsWith('again.') ? '' : `\n${again}`}`
  }
  const now = file.lines[best + length]
  const differs =
    now === undefined
      ? `the file ends after line ${best + length}, but the patch has "${old[length]}"`
      : `line ${best + length + 1} is "${now.slice(0, 300)}", but the patch has "${old[length]!.slice(0, 300)}"`
  return `is not in the file: ${differs}. The file has there now:\n${numberedLines(file.lines, Math.max(0, best), old.length + 1)}\n${again}`
}
