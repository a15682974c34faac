/** The kinds of lines in a diff. `note` is git's remark that a file has no newline at its end; `other` is everything outside hunks. */
export const lineKinds = { other: 0, hunk: 1, context: 2, added: 3, removed: 4, note: 5 } as const
export type LineKind = (typeof lineKinds)[keyof typeof lineKinds]

const newline = 10

/**
 * The lines of a diff. The text stays in bytes, and each line needs thirteen more bytes, so that 50 MB take about 70; a line becomes a
 * string when it is drawn. A subclass determines the kind and the numbers of each line.
 */
export abstract class DiffLines {
  #most: number
  #bytes: Uint8Array
  #length = 0
  /** The start of the first incomplete line, and how far the search for its end has got. */
  #scanned = 0
  #searched = 0
  #count = 0
  #starts = new Uint32Array(1_024)
  #kinds = new Uint8Array(1_024)
  #olds = new Uint32Array(1_024)
  #news = new Uint32Array(1_024)
  #decoder = new TextDecoder()

  /** `expected` is the probable length in bytes, `most` the greatest length that is stored. */
  constructor(expected: number, most: number) {
    this.#most = most
    this.#bytes = new Uint8Array(Math.min(Math.max(expected, 1_024), most))
  }

  get lineCount(): number {
    return this.#count
  }

  get byteCount(): number {
    return this.#length
  }

  kind(line: number): LineKind {
    return this.#kinds[line] as LineKind
  }

  /** The number of a line in the file before the change; 0 if that file lacks the line. */
  oldNumber(line: number): number {
    return this.#olds[line]!
  }

  newNumber(line: number): number {
    return this.#news[line]!
  }

  /** The length of a line in bytes, including its mark. */
  size(line: number): number {
    return this.#end(line) - this.#starts[line]!
  }

  /** The text of a line without the mark at its beginning, starting at a byte; at most `most` bytes. */
  text(line: number, most = Infinity, from = 0): string {
    const skipped = this.kind(line) === lineKinds.other || this.kind(line) === lineKinds.hunk ? 0 : 1
    const start = Math.min(this.#starts[line]! + skipped + from, this.#end(line))
    const end = Math.min(this.#end(line), start + most)
    // A character that is cut in two is left out, not replaced by a placeholder.
    return end === this.#end(line)
      ? this.decoded(start, end)
      : new TextDecoder().decode(this.#bytes.subarray(start, end), { stream: true })
  }

  /** A line without its mark, with one character per byte, so that two lines are equal only if their bytes are. */
  raw(line: number): string {
    const bytes = this.#bytes.subarray(this.#starts[line]! + 1, this.#end(line))
    let text = ''
    for (let from = 0; from < bytes.length; from += 32_768)
      text += String.fromCharCode(...bytes.subarray(from, from + 32_768))
    return text
  }

  /** The bytes between two lines, for comparisons. */
  bytes(first: number, end: number): Uint8Array {
    return this.#bytes.subarray(
      this.#starts[first] ?? 0,
      first >= end ? (this.#starts[first] ?? 0) : this.#end(end - 1),
    )
  }

  /** Whether another line may be added. */
  protected abstract takesLine(): boolean

  /** Determines the kind of a line, whose bytes are from `start` to `end`, and sets its numbers with `setNumbers`. */
  protected abstract readLine(line: number, start: number, end: number): LineKind

  /** All bytes that have arrived. */
  protected get known(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  protected byteAt(at: number): number | undefined {
    return this.#bytes[at]
  }

  protected decoded(start: number, end: number): string {
    return this.#decoder.decode(this.#bytes.subarray(start, end))
  }

  /** The beginning of a line as it was sent, without the carriage return of Windows. */
  protected beginningOf(line: number, most: number): string {
    const start = this.#starts[line]!
    return this.decoded(start, Math.min(this.#end(line), start + most)).replace(/\r$/, '')
  }

  /** The numbers of a line in the file before and after the change. */
  protected setNumbers(line: number, old: number, next: number): void {
    this.#olds[line] = old
    this.#news[line] = next
  }

  /** Adds the next piece of the text and parses the lines that end in it; false if not all of it fits. */
  protected addPiece(piece: Uint8Array): boolean {
    const room = this.#most - this.#length
    const taken = piece.length > room ? piece.subarray(0, room) : piece
    if (this.#length + taken.length > this.#bytes.length) {
      const larger = new Uint8Array(Math.min(this.#most, Math.max(this.#bytes.length * 2, this.#length + taken.length)))
      larger.set(this.#bytes.subarray(0, this.#length))
      this.#bytes = larger
    }
    this.#bytes.set(taken, this.#length)
    this.#length += taken.length
    const { known } = this
    for (;;) {
      const end = known.indexOf(newline, Math.max(this.#scanned, this.#searched))
      this.#searched = end < 0 ? this.#length : end + 1
      if (end < 0 || !this.takesLine()) break
      this.#addLine(this.#scanned, end)
      this.#scanned = end + 1
    }
    return taken === piece
  }

  /** Adds the last line if it does not end with a newline. */
  protected addRest(): void {
    if (this.#scanned < this.#length && this.takesLine()) this.#addLine(this.#scanned, this.#length)
  }

  #addLine(start: number, end: number): void {
    if (this.#count === this.#starts.length) this.#grow()
    const line = this.#count++
    this.#starts[line] = start
    this.#kinds[line] = this.readLine(line, start, end)
  }

  #grow(): void {
    const size = this.#starts.length * 2
    const larger = <T extends Uint8Array | Uint32Array>(made: T, old: T): T => {
      made.set(old)
      return made
    }
    this.#starts = larger(new Uint32Array(size), this.#starts)
    this.#olds = larger(new Uint32Array(size), this.#olds)
    this.#news = larger(new Uint32Array(size), this.#news)
    this.#kinds = larger(new Uint8Array(size), this.#kinds)
  }

  /** The offset at which a line ends, without its newline. */
  #end(line: number): number {
    if (line + 1 < this.#count) return this.#starts[line + 1]! - 1
    return this.#scanned > this.#starts[line]! ? this.#scanned - 1 : this.#length
  }
}
