import type { DiffDocument } from './diff-document.ts'
import type { DiffFile } from './diff-file.ts'
import { diffArrays } from 'diff'
import { lineKinds } from './diff-line-bytes.ts'
import { pathOf } from './diff-file.ts'
import { quoted } from '../../../core/data/diff-paths.ts'

/** A file whose result differs between two tries, as part of a unified diff from one result to the other. */
type ChangeBetween = { path: string; part: Uint8Array; note?: string }

/** Lines of context around a change. */
const context = 3

/** Beyond this many differences, lines are shown as replaced: finding the smallest change would take too long. */
const mostEdits = 1_000

type Side = { diff: DiffDocument; file: DiffFile }

/**
 * The changes between the results of two diffs of the same project, file by file, without files whose results are equal. Each diff
 * contains the lines that it changes, so together they contain every line in which the results can differ. If the two diffs start from
 * different contents of a file, returns the whole later diff of that file, with a note that says so.
 */
export function* changesBetween(earlier: DiffDocument, later: DiffDocument): Generator<ChangeBetween> {
  const before = byFile(earlier)
  const after = byFile(later)
  for (const [key, sides] of after) {
    const path = pathOf(sides[0]!.file)
    const was = before.get(key) ?? []
    if (sides.length === 1 && was.length === 1) yield* changedFile(path, was[0]!, sides[0]!)
    else if (sides.length === 1 && was.length === 0)
      yield whole(path, sides[0]!, 'The earlier try did not change this file.')
    else if (!isSameList(was, sides))
      for (const side of sides) yield whole(path, side, 'The diff names this file more than once: all of it is shown.')
  }
  for (const [key, sides] of before)
    if (!after.has(key)) for (const side of sides) yield takenBack(pathOf(side.file), side)
}

function byFile(diff: DiffDocument): Map<string, Side[]> {
  const found = new Map<string, Side[]>()
  for (const file of diff.files) {
    const { oldPath, newPath, move } = file
    if (oldPath === undefined && newPath === undefined) continue
    const isOwn = oldPath !== undefined && move !== 'copied'
    const key = isOwn ? `old ${oldPath}` : `new ${newPath}`
    found.set(key, [...(found.get(key) ?? []), { diff, file }])
  }
  return found
}

const isSameList = (a: readonly Side[], b: readonly Side[]) =>
  a.length === b.length && a.every((side, at) => isSameChange(side, b[at]!))

/** Whether two files have the same paths, modes and lines. */
function isSameChange(a: Side, b: Side): boolean {
  const facts = ({ file: { oldPath, newPath, newMode, isBinary, newBlob } }: Side) =>
    JSON.stringify([oldPath, newPath, newMode, isBinary && newBlob?.slice(0, 7)])
  if (facts(a) !== facts(b) || a.file.hunks.length !== b.file.hunks.length) return false
  const [left, right] = [body(a), body(b)]
  if (left.length !== right.length) return false
  for (let at = 0; at < left.length; at++) if (left[at] !== right[at]) return false
  return true
}

const body = ({ diff, file }: Side) => diff.bytes(file.hunks[0]?.line ?? file.end, file.end)

function* changedFile(path: string, a: Side, b: Side): Generator<ChangeBetween> {
  if (isSameChange(a, b)) return
  const why = notComparable(a, b)
  if (why !== undefined) return yield whole(path, b, why)
  const hunks = hunksBetween(patchOf(a), patchOf(b))
  if (hunks === undefined) return yield whole(path, b, basesDiffer)
  const header = headerBetween(a.file, b.file)
  if (hunks.length > 0 || header.length > 1)
    yield { path, part: encodePart([...header, ...namesOf(a.file, b.file, hunks)], hunks) }
}

const basesDiffer =
  'The two tries began with different contents of this file: all changes of the later one are shown, not only those since the earlier one.'

function notComparable({ file: a }: Side, { file: b }: Side): string | undefined {
  if (a.isBinary || b.isBinary) return 'This file is not text, and differs between the tries.'
  if (a.isTorn || b.isTorn) return 'A diff of this file is damaged: all of the later one is shown.'
  if (a.isCombined || b.isCombined) return 'This file is from a merge: all of it is shown.'
  const shared = Math.min(a.oldBlob?.length ?? 0, b.oldBlob?.length ?? 0)
  return a.oldBlob?.slice(0, shared) === b.oldBlob?.slice(0, shared) ? undefined : basesDiffer
}

/** The change of a file that the later try did not touch: its lines go back to the original. */
function takenBack(path: string, a: Side): ChangeBetween {
  const { file } = a
  const note = 'The later try does not change this file any more.'
  const isPlain = !file.isBinary && !file.isTorn && !file.isCombined
  const { oldPath, oldMode, move } = file
  // If an added file is not added after all, no file is left.
  const original: DiffFile = { first: 0, end: 0, added: 0, removed: 0, hidden: 0, hunks: [] }
  if (oldPath !== undefined && move !== 'copied') Object.assign(original, { oldPath, newPath: oldPath })
  if (oldMode !== undefined) original.newMode = oldMode
  if (move === 'copied')
    return {
      path,
      part: encodePart([`diff --git ${sidePath('a', path)} ${sidePath('b', path)}`, 'deleted file mode 100644']),
      note,
    }
  const hunks = isPlain ? (hunksBetween(patchOf(a), []) ?? []) : []
  return { path, part: encodePart([...headerBetween(file, original), ...namesOf(file, original, hunks)], hunks), note }
}

function whole(path: string, { diff, file }: Side, note: string): ChangeBetween {
  const bytes = diff.bytes(file.first, file.end)
  const part = new Uint8Array(bytes.length + 1)
  part.set(bytes)
  part[bytes.length] = 10
  return { path, part, note }
}

/** Encodes a header as UTF-8, followed by hunks whose characters each stand for one byte. */
function encodePart(header: readonly string[], hunks: readonly string[] = []): Uint8Array {
  const named = new TextEncoder().encode(header.map((line) => `${line}\n`).join(''))
  const part = new Uint8Array(named.length + hunks.reduce((sum, line) => sum + line.length + 1, 0))
  part.set(named)
  let at = named.length
  for (const line of hunks) {
    for (let index = 0; index < line.length; index++) part[at++] = line.charCodeAt(index)
    part[at++] = 10
  }
  return part
}

const sidePath = (side: 'a' | 'b', path: string | undefined) =>
  path === undefined ? '/dev/null' : quoted(`${side}/${path}`)

/** The header lines that name a file in the earlier and the later result. Like git, omits `---` and `+++` if no line differs. */
function headerBetween(a: DiffFile, b: DiffFile): string[] {
  const [oldPath, newPath] = [a.newPath, b.newPath]
  const named = newPath ?? oldPath ?? ''
  const lines = [`diff --git ${sidePath('a', oldPath ?? named)} ${sidePath('b', named)}`]
  const oldMode = a.newMode ?? b.oldMode
  const newMode = b.newMode ?? a.oldMode
  if (oldPath === undefined && newPath !== undefined) lines.push(`new file mode ${newMode ?? '100644'}`)
  else if (oldPath !== undefined && newPath === undefined) lines.push(`deleted file mode ${oldMode ?? '100644'}`)
  else if (oldMode !== undefined && newMode !== undefined && oldMode !== newMode)
    lines.push(`old mode ${oldMode}`, `new mode ${newMode}`)
  if (oldPath !== undefined && newPath !== undefined && oldPath !== newPath)
    lines.push(`rename from ${quoted(oldPath)}`, `rename to ${quoted(newPath)}`)
  return lines
}

const namesOf = (a: DiffFile, b: DiffFile, hunks: readonly string[]) =>
  hunks.length === 0 ? [] : [`--- ${sidePath('a', a.newPath)}`, `+++ ${sidePath('b', b.newPath)}`]

/** A changed part of the original file, by its line numbers from 0, with its lines before and after the change. */
type Stretch = { start: number; end: number; base: string[]; result: string[] }

/** Marks the last line of a file that ends without a newline; no line of a diff can contain this mark. */
const bare = '\n'

function patchOf({ diff, file }: Side): Stretch[] {
  return file.hunks.map(({ line, oldStart, oldCount }) => {
    const base: string[] = []
    const result: string[] = []
    let touched: string[][] = []
    for (let at = line + 1; at < file.end; at++) {
      const kind = diff.kind(at)
      if (kind === lineKinds.note) for (const lines of touched) lines[lines.length - 1] += bare
      else {
        touched =
          kind === lineKinds.context
            ? [base, result]
            : kind === lineKinds.removed
              ? [base]
              : kind === lineKinds.added
                ? [result]
                : []
        if (touched.length === 0) break
        for (const lines of touched) lines.push(diff.raw(at))
      }
    }
    // The header of a hunk that only adds lines names the line before it.
    const start = oldCount === 0 ? oldStart : oldStart - 1
    return { start, end: start + oldCount, base, result }
  })
}

/** The hunks from one result to the other; undefined if the two patches disagree about the original lines. */
function hunksBetween(a: readonly Stretch[], b: readonly Stretch[]): string[] | undefined {
  const known = new Map<number, string>()
  for (const { start, base } of [...a, ...b])
    for (const [at, line] of base.entries()) {
      if ((known.get(start + at) ?? line) !== line) return undefined
      known.set(start + at, line)
    }
  const hunks: string[] = []
  // How many more lines than the original each result has before this part.
  let [leftShift, rightShift] = [0, 0]
  for (const { start, end } of joinStretches([...a, ...b])) {
    const [left, right] = [resultIn(a, start, end, known), resultIn(b, start, end, known)]
    hunks.push(...unifiedHunks(left, right, start + leftShift, start + rightShift))
    leftShift += left.length - (end - start)
    rightShift += right.length - (end - start)
  }
  return hunks
}

/** Joins parts that touch or overlap. */
function joinStretches(stretches: readonly Stretch[]): { start: number; end: number }[] {
  const all: { start: number; end: number }[] = []
  for (const { start, end } of stretches.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    const last = all.at(-1)
    if (last && start <= last.end) last.end = Math.max(last.end, end)
    else all.push({ start, end })
  }
  return all
}

/** The lines that a patch produces for a part of the original. */
function resultIn(patch: readonly Stretch[], start: number, end: number, known: ReadonlyMap<number, string>): string[] {
  const lines: string[] = []
  let at = start
  for (const stretch of patch.filter((one) => one.start >= start && one.end <= end)) {
    for (; at < stretch.start; at++) lines.push(known.get(at)!)
    for (const line of stretch.result) lines.push(line)
    at = stretch.end
  }
  for (; at < end; at++) lines.push(known.get(at)!)
  return lines
}

type Line = { mark: ' ' | '+' | '-'; text: string }

/** The hunks of a diff between two lists of lines, which start `leftBefore` and `rightBefore` lines into their files. */
function unifiedHunks(
  left: readonly string[],
  right: readonly string[],
  leftBefore: number,
  rightBefore: number,
): string[] {
  const lines = compareLines(left, right)
  const changed = lines.flatMap(({ mark }, at) => (mark === ' ' ? [] : [at]))
  const out: string[] = []
  let [from, leftLine, rightLine] = [0, leftBefore, rightBefore]
  for (let at = 0; at < changed.length;) {
    let last = at
    while (last + 1 < changed.length && changed[last + 1]! - changed[last]! <= 2 * context) last++
    const first = Math.max(from, changed[at]! - context)
    const end = Math.min(lines.length, changed[last]! + context + 1)
    leftLine += first - from
    rightLine += first - from
    const shown = lines.slice(first, end)
    const leftCount = shown.filter(({ mark }) => mark !== '+').length
    const rightCount = shown.filter(({ mark }) => mark !== '-').length
    const place = (line: number, count: number) => `${count === 0 ? line : line + 1},${count}`
    out.push(`@@ -${place(leftLine, leftCount)} +${place(rightLine, rightCount)} @@`)
    for (const { mark, text } of shown)
      if (text.endsWith(bare)) out.push(`${mark}${text.slice(0, -1)}`, '\\ No newline at end of file')
      else out.push(mark + text)
    leftLine += leftCount
    rightLine += rightCount
    from = end
    at = last + 1
  }
  return out
}

function compareLines(left: readonly string[], right: readonly string[]): Line[] {
  let same = 0
  while (same < left.length && same < right.length && left[same] === right[same]) same++
  let sameEnd = 0
  const most = Math.min(left.length, right.length) - same
  while (sameEnd < most && left[left.length - 1 - sameEnd] === right[right.length - 1 - sameEnd]) sameEnd++
  const [a, b] = [left.slice(same, left.length - sameEnd), right.slice(same, right.length - sameEnd)]
  const marked = (mark: Line['mark'], texts: readonly string[]) => texts.map((text) => ({ mark, text }))
  const middle = diffArrays(a, b, { maxEditLength: mostEdits }) ?? [
    { value: a, removed: true, added: false },
    { value: b, removed: false, added: true },
  ]
  return [
    ...marked(' ', left.slice(0, same)),
    ...middle.flatMap(({ value, added, removed }) => marked(removed ? '-' : added ? '+' : ' ', value)),
    ...marked(' ', left.slice(left.length - sameEnd)),
  ]
}
