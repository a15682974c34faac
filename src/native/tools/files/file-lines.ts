/** The most lines of a file that are shown at once. */
export const mostLines = 2000
const mostChars = 48 * 1024
const longestLine = 2000
/** Reading stops inside a line that is longer than this. */
const endlessLine = 4 * 1024 * 1024

/** `numbers`: whether each line begins with its number. */
export type Range = { offset: number; limit: number; numbers: boolean }

/**
 * Collects the lines of a range, limited in length and perhaps numbered, from a text that is pushed in chunks: memory does not grow with
 * the file. `full` tells the caller that no more chunks are needed.
 */
export class FileLines {
  #range: Range
  #lines: string[] = []
  #chars = 0
  #line = 1
  #current = ''
  #length = 0
  #open = false
  full = false

  constructor(range: Range) {
    this.#range = range
  }

  /**
   * Skips the lines before the range without decoding them and returns the rest of the chunk. Works only for encodings with one-byte line
   * ends.
   */
  skip(chunk: Buffer): Buffer {
    let from = 0
    while (this.#line < this.#range.offset) {
      const at = chunk.indexOf(10, from)
      if (at < 0) {
        this.#open ||= from < chunk.length
        return chunk.subarray(chunk.length)
      }
      this.#line++
      this.#open = false
      from = at + 1
    }
    return chunk.subarray(from)
  }

  push(text: string): void {
    let from = 0
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', from)) {
      this.#keep(text, from, at)
      this.#close()
      from = at + 1
    }
    if (from < text.length) this.#keep(text, from, text.length)
  }

  /** The lines, followed by how to continue; `atEnd` says whether the whole file was pushed. */
  done(atEnd: boolean): string {
    if (this.#open && (atEnd || this.#wanted)) this.#close()
    const { offset } = this.#range
    const whole = this.#line - 1
    if (this.#lines.length === 0) {
      if (atEnd && whole === 0) return '[the file is empty]'
      if (atEnd) return `[the file has only ${whole} ${whole === 1 ? 'line' : 'lines'}: choose a smaller offset]`
    }
    const last = offset + this.#lines.length - 1
    const text = this.#lines.join('\n')
    if (atEnd && last >= whole) return text
    const of = atEnd ? ` of ${whole}` : ''
    return `${text}\n[lines ${offset} to ${last}${of}; go on with offset ${last + 1}]`
  }

  get #wanted(): boolean {
    return this.#line >= this.#range.offset && this.#lines.length < this.#range.limit && this.#chars < mostChars
  }

  #keep(text: string, from: number, to: number): void {
    this.#open = true
    this.#length += to - from
    if (this.#wanted && this.#current.length < longestLine)
      this.#current += text.slice(from, Math.min(to, from + longestLine + 1 - this.#current.length))
    if (this.#wanted && this.#length > endlessLine) this.full = true
  }

  #close(): void {
    if (this.#wanted) {
      const text = this.#current.replace(/\r$/, '')
      const line = this.#length > longestLine + 1 ? cutLine(text, this.#length) : text
      this.#lines.push(this.#range.numbers ? `${this.#line}:${line}` : line)
      this.#chars += line.length
    } else if (this.#lines.length > 0) this.full = true
    this.#line++
    this.#current = ''
    this.#length = 0
    this.#open = false
  }
}

function cutLine(text: string, length: number): string {
  return `${text.slice(0, longestLine)} [… ${length - longestLine} more characters in this line]`
}
