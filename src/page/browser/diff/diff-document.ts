import type { DiffFile } from './diff-file.ts'
import type { LineKind } from './diff-line-bytes.ts'
import { gitHeaderPaths, headerPath, unquoted } from '../../../core/data/diff-paths.ts'
import { pathOf, readHeader } from './diff-file.ts'
import { DiffLines, lineKinds } from './diff-line-bytes.ts'

/** A diff beyond these sizes is cut off, because a browser's memory is limited. */
type DiffLimits = { bytes: number; lines: number; files: number; hunks: number }
const usualLimits: DiffLimits = { bytes: 200_000_000, lines: 4_000_000, files: 100_000, hunks: 400_000 }

/** How many bytes of a header line are parsed: nobody could read a longer path. */
const mostHeader = 8_192

const [plus, minus, space, backslash, at, carriage] = [43, 45, 32, 92, 64, 13]

/** A unified diff that is parsed piece by piece. Parsing never fails: lines that are not part of a diff are `other`. */
export class DiffDocument extends DiffLines {
  readonly files: DiffFile[] = []
  /** Why the rest of the diff is not shown. */
  cut: string | undefined
  #limits: DiffLimits
  #hunks = 0
  #file: DiffFile | undefined
  /** Whether the lines with `---` and `+++` of the file have been read. */
  #isNamed = false
  /** How many old and new lines of the current hunk are missing, and the numbers of the next lines. */
  #oldLeft = 0
  #newLeft = 0
  #old = 0
  #new = 0
  /** The number of marker columns in a combined hunk. */
  #columns = 0
  #hiddenAt = -1

  /** `expected` is the probable length in bytes. */
  constructor(expected = 65_536, limits: Partial<DiffLimits> = {}) {
    const all = { ...usualLimits, ...limits }
    super(expected, all.bytes)
    this.#limits = all
  }

  static of(text: string): DiffDocument {
    const bytes = new TextEncoder().encode(text)
    const read = new DiffDocument(bytes.length)
    read.push(bytes)
    read.end()
    return read
  }

  /** Parses the next piece of the text. */
  push(piece: Uint8Array): void {
    if (this.cut !== undefined) return
    if (!this.addPiece(piece)) this.#stop(`${Math.round(this.#limits.bytes / 1_000_000)} MB`)
  }

  /** Called after the last piece. */
  end(): void {
    this.addRest()
    if (this.#oldLeft > 0 || this.#newLeft > 0) this.#tear()
    if (this.#file) this.#file.end = this.lineCount
  }

  protected takesLine(): boolean {
    if (this.cut === undefined && this.lineCount >= this.#limits.lines)
      this.#stop(`${this.#limits.lines.toLocaleString('en')} lines`)
    return this.cut === undefined
  }

  protected readLine(line: number, start: number, end: number): LineKind {
    const kind = this.#kindOf(line, start, end)
    if (this.#file) this.#file.end = line + 1
    return kind
  }

  #kindOf(line: number, start: number, end: number): LineKind {
    const mark = end > start ? this.byteAt(start)! : space
    if (this.#columns > 0) return this.#combinedKind(line, start, end)
    if (this.#oldLeft > 0 || this.#newLeft > 0) {
      // An empty line is an empty context line that lost its leading space on the way.
      const isBare = end === start || (end === start + 1 && mark === carriage)
      if ((mark === space || isBare) && this.#oldLeft > 0 && this.#newLeft > 0) return this.#contextLine(line)
      if (mark === minus && this.#oldLeft > 0) return this.#removedLine(line)
      if (mark === plus && this.#newLeft > 0) return this.#addedLine(line, start, end)
      if (mark === backslash) return lineKinds.note
      this.#tear()
    } else if (mark === backslash && this.#file && this.#file.hunks.length > 0) return lineKinds.note
    return this.#header(line, start, end)
  }

  #contextLine(line: number): LineKind {
    this.setNumbers(line, this.#old++, this.#new++)
    this.#oldLeft--
    this.#newLeft--
    return lineKinds.context
  }

  #removedLine(line: number): LineKind {
    this.setNumbers(line, this.#old++, 0)
    this.#oldLeft--
    this.#file!.removed++
    return lineKinds.removed
  }

  #addedLine(line: number, start: number, end: number): LineKind {
    this.setNumbers(line, 0, this.#new++)
    this.#newLeft--
    this.#file!.added++
    this.#file!.hidden += this.#hiddenIn(start, end)
    return lineKinds.added
  }

  /** A line of a combined hunk: added if any parent lacks it, removed if any parent had it. */
  #combinedKind(line: number, start: number, end: number): LineKind {
    const marks = this.known.subarray(start, Math.min(end, start + this.#columns))
    if (marks.length > 0 && marks.every((mark) => mark === space || mark === plus || mark === minus)) {
      if (marks.includes(minus)) {
        this.#file!.removed++
        return lineKinds.removed
      }
      this.setNumbers(line, 0, this.#new++)
      if (!marks.includes(plus)) return lineKinds.context
      this.#file!.added++
      this.#file!.hidden += this.#hiddenIn(start, end)
      return lineKinds.added
    }
    if (marks[0] === backslash) return lineKinds.note
    this.#columns = 0
    return this.#header(line, start, end)
  }

  /** A line outside the hunks. Every line of git's headers begins with one of a few letters or marks. */
  #header(line: number, start: number, end: number): LineKind {
    const first = this.byteAt(start) ?? space
    if (first === at) return this.#hunkHeader(line, start, end)
    const isWord = (first >= 97 && first <= 122) || first === 66 || first === 71
    if (!isWord && first !== plus && first !== minus) return this.#otherLine(line)
    const text = this.decoded(start, Math.min(end, start + mostHeader)).replace(/\r$/, '')
    if (text.startsWith('diff --git ')) {
      const paths = gitHeaderPaths(text.slice('diff --git '.length))
      this.#begin(line, paths)
      return lineKinds.other
    }
    const combined = /^diff --(?:cc|combined) (.*)$/s.exec(text)?.[1]
    if (combined !== undefined) {
      const path = unquoted(combined)
      this.#begin(line, { oldPath: path, newPath: path }).isCombined = true
      return lineKinds.other
    }
    const isPair = line > 0 && text.startsWith('+++ ') && this.kind(line - 1) === lineKinds.other
    const before = isPair ? this.beginningOf(line - 1, mostHeader) : ''
    if (before.startsWith('--- ')) this.#named(line, before.slice(4), text.slice(4))
    else if (this.#file) readHeader(this.#file, text)
    return this.#otherLine(line)
  }

  #otherLine(line: number): LineKind {
    // Text before the first file, such as a commit message, is shown as a file without a name.
    if (!this.#file) this.#begin(line, {})
    return lineKinds.other
  }

  /** The two lines before the hunks that name the file; in diffs without git's own header they also begin the file. */
  #named(line: number, oldName: string, newName: string): void {
    const oldPath = headerPath(oldName)
    const newPath = headerPath(newName)
    const current = this.#file
    const isOpen = current && !this.#isNamed && current.hunks.length === 0 && pathOf(current) !== ''
    const file = isOpen ? current : this.#begin(line - 1, {})
    this.#isNamed = true
    delete file.oldPath
    delete file.newPath
    if (oldPath !== undefined) file.oldPath = oldPath
    if (newPath !== undefined) file.newPath = newPath
  }

  #hunkHeader(line: number, start: number, end: number): LineKind {
    const text = this.decoded(start, Math.min(end, start + mostHeader))
    const found = /^@@ -(\d{1,10})(?:,(\d{1,10}))? \+(\d{1,10})(?:,(\d{1,10}))? @@/.exec(text)
    const combined = found ? null : /^(@{3,20}) .*?\+(\d{1,10})(?:,\d{1,10})? @/.exec(text)
    if (!found && !combined) return this.#otherLine(line)
    if (this.#hunks >= this.#limits.hunks) {
      this.#stop(`${this.#limits.hunks.toLocaleString('en')} changed places`)
      return lineKinds.other
    }
    const file = this.#file ?? this.#begin(line, {})
    this.#hunks++
    if (combined) {
      file.isCombined = true
      this.#columns = combined[1]!.length - 1
      this.#new = Number(combined[2])
      file.hunks.push({ line, oldStart: 0, oldCount: 0, newStart: this.#new, newCount: 0 })
      return lineKinds.hunk
    }
    const [, oldStart, oldCount = '1', newStart, newCount = '1'] = found!
    this.#old = Number(oldStart)
    this.#new = Number(newStart)
    this.#oldLeft = Number(oldCount)
    this.#newLeft = Number(newCount)
    file.hunks.push({
      line,
      oldStart: this.#old,
      oldCount: this.#oldLeft,
      newStart: this.#new,
      newCount: this.#newLeft,
    })
    return lineKinds.hunk
  }

  #begin(line: number, paths: Pick<DiffFile, 'oldPath' | 'newPath'>): DiffFile {
    // The unnamed file that was begun for the previous line contains nothing else.
    if (this.#file && this.#file.first >= line) this.files.pop()
    else if (this.#file) this.#file.end = line
    const file: DiffFile = { first: line, end: line + 1, ...paths, added: 0, removed: 0, hidden: 0, hunks: [] }
    this.#file = file
    this.#isNamed = false
    if (this.files.length >= this.#limits.files) this.#stop(`${this.#limits.files.toLocaleString('en')} files`)
    else this.files.push(file)
    return file
  }

  /** Marks a hunk that ends before all lines that its header announced. */
  #tear(): void {
    this.#file!.isTorn = true
    this.#oldLeft = 0
    this.#newLeft = 0
  }

  #stop(limit: string): void {
    this.cut ??= `This diff is longer than ${limit}. The rest is not shown here.`
    this.#oldLeft = 0
    this.#newLeft = 0
  }

  /** Counts the characters in a line that can hide text: U+200B to U+200F, U+202A to U+202E and U+2060 to U+206F. */
  #hiddenIn(start: number, end: number): number {
    if (this.#hiddenAt >= end) return 0
    const { known } = this
    let found = 0
    let from = Math.max(start, this.#hiddenAt)
    for (;;) {
      const next = known.indexOf(0xe2, from)
      this.#hiddenAt = next < 0 ? known.length : next
      if (this.#hiddenAt >= end) return found
      const [second, third] = [known[next + 1]!, known[next + 2]!]
      const isMark = second === 0x80 && ((third >= 0x8b && third <= 0x8f) || (third >= 0xaa && third <= 0xae))
      if (isMark || (second === 0x81 && third >= 0xa0 && third <= 0xaf)) found++
      from = next + 1
    }
  }
}
