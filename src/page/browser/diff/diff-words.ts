import { diffArrays } from 'diff'

/** A part of a line; `changed` if the other side has different words. */
export type WordPart = { text: string; changed: boolean }

/** Lines with more characters than this are only compared at their beginnings and ends. */
const mostLength = 2_000
/** More differences than this are not marked, because they would not help a reader. */
const mostEdits = 120
/** Lines are paired only in blocks of at most this many lines on each side. */
const mostPaired = 40

const wordsIn = (line: string) => line.match(/[\p{L}\p{N}_]+|\s+|[^]/gu) ?? []

/** Marks the words in which two lines differ; undefined if the lines have too little in common for marks to help. */
export function wordChanges(before: string, after: string): { before: WordPart[]; after: WordPart[] } | undefined {
  const [start, end] = commonEnds(before, after)
  const [left, right] = [before.slice(start, before.length - end), after.slice(start, after.length - end)]
  const found =
    before.length > mostLength || after.length > mostLength
      ? undefined
      : diffArrays(wordsIn(left), wordsIn(right), { maxEditLength: mostEdits })
  const middle = found ?? [
    { value: [left], removed: true, added: false },
    { value: [right], removed: false, added: true },
  ]
  const side = (whole: string, skipped: 'added' | 'removed') =>
    joinParts([
      { text: whole.slice(0, start), changed: false },
      ...middle
        .filter((part) => !part[skipped])
        .map(({ value, added, removed }) => ({ text: value.join(''), changed: added || removed })),
      { text: whole.slice(whole.length - end), changed: false },
    ])
  const parts = { before: side(before, 'added'), after: side(after, 'removed') }
  const kept = (of: WordPart[]) => of.reduce((sum, { text, changed }) => sum + (changed ? 0 : text.trim().length), 0)
  const most = Math.max(before.trim().length, after.trim().length)
  return kept(parts.before) * 4 >= most ? parts : undefined
}

/** How many characters two lines share at their beginning and at their end, in whole words. */
function commonEnds(before: string, after: string): [number, number] {
  const most = Math.min(before.length, after.length)
  let start = 0
  while (start < most && before[start] === after[start]) start++
  while (start > 0 && (isInWord(before, start) || isInWord(after, start))) start--
  let end = 0
  while (end < most - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end++
  while (end > 0 && (isInWord(before, before.length - end) || isInWord(after, after.length - end))) end--
  return [start, end]
}

/** Whether a place in a line lies between two letters of a word, or in the middle of a character. */
function isInWord(line: string, at: number): boolean {
  return (
    /[\p{L}\p{N}_][\p{L}\p{N}_]|[\ud800-\udbff][\udc00-\udfff]/u.test(line.slice(at - 1, at + 1)) || isLow(line, at)
  )
}

const isLow = (line: string, at: number) => (line.charCodeAt(at) & 0xfc00) === 0xdc00

/**
 * Joins neighbouring parts of the same kind, and drops empty ones. A dot or a bracket between two changed words does not interrupt the
 * mark.
 */
function joinParts(parts: readonly WordPart[]): WordPart[] {
  const all: WordPart[] = []
  for (const [at, { text, changed }] of parts.entries()) {
    const isBetween = all.at(-1)?.changed === true && parts[at + 1]?.changed === true
    const isMarked = changed || (isBetween && text.length <= 2 && !/[\p{L}\p{N}_]/u.test(text))
    const last = all.at(-1)
    if (text === '') continue
    if (last?.changed === isMarked) last.text += text
    else all.push({ text, changed: isMarked })
  }
  return all
}

/**
 * Which added line replaces which removed line, by their indexes: the pairs keep the order, and their total similarity is the greatest
 * possible. Blocks of equal length with too many lines are paired one by one.
 */
export function pairedLines(removed: readonly string[], added: readonly string[]): [number, number][] {
  if (removed.length > mostPaired || added.length > mostPaired)
    return removed.length === added.length ? removed.map((_, at) => [at, at]) : []
  const words = (lines: readonly string[]) => lines.map((line) => new Set(wordsIn(line.slice(0, mostLength))))
  const [left, right] = [words(removed), words(added)]
  // best[i][j]: the greatest total similarity of the lines from i and j on.
  const best = Array.from({ length: removed.length + 1 }, () => new Float64Array(added.length + 1))
  const like = left.map((a) => right.map((b) => likeness(a, b)))
  for (let i = removed.length - 1; i >= 0; i--)
    for (let j = added.length - 1; j >= 0; j--)
      best[i]![j] = Math.max(best[i + 1]![j]!, best[i]![j + 1]!, best[i + 1]![j + 1]! + like[i]![j]!)
  const pairs: [number, number][] = []
  for (let i = 0, j = 0; i < removed.length && j < added.length;) {
    if (like[i]![j]! > 0 && best[i]![j] === best[i + 1]![j + 1]! + like[i]![j]!) pairs.push([i++, j++])
    else if (best[i]![j] === best[i + 1]![j]) i++
    else j++
  }
  return pairs
}

/** The share of words that two lines have in common; 0 if it is too small. */
function likeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let common = 0
  let all = 0
  for (const word of a) {
    if (/^\s+$/.test(word)) continue
    all++
    if (b.has(word)) common++
  }
  for (const word of b) if (!/^\s+$/.test(word)) all++
  const share = all === 0 ? 1 : (2 * common) / all
  return share < 0.45 ? 0 : share
}
