import { quotedWord } from '../../base/text/shell-word.ts'

/** A privacy message, which every terminal ignores; the shell prints it after the last byte of its program. */
export function endMark(id: string): string {
  return `\u001b^termaite ${id}\u001b\\`
}

/** The shell command that prints the end mark. */
export function printEndMark(id: string): string {
  return `printf '\\033^termaite %s\\033\\\\' ${quotedWord(id)}\n`
}

/** Finds the end mark in a stream, however it is split into chunks, and passes on the bytes before it. */
export class EndMark {
  #mark: Buffer
  #held: Uint8Array = new Uint8Array(0)
  found = false

  constructor(id: string) {
    this.#mark = Buffer.from(endMark(id))
  }

  /** Returns the program's own bytes; trailing bytes that may be the beginning of the mark are held back until the next chunk. */
  push(chunk: Uint8Array): Uint8Array {
    if (this.found) return new Uint8Array(0)
    const bytes =
      this.#held.length > 0
        ? Buffer.concat([this.#held, chunk])
        : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
    const at = bytes.indexOf(this.#mark)
    this.found = at >= 0
    const end = this.found ? at : bytes.length - this.#begun(bytes)
    this.#held = this.found ? new Uint8Array(0) : bytes.subarray(end)
    return bytes.subarray(0, end)
  }

  /** Returns the bytes that were held back, once the stream is over. */
  rest(): Uint8Array {
    const held = this.#held
    this.#held = new Uint8Array(0)
    return held
  }

  /** How many of the last bytes could be the beginning of the mark. */
  #begun(bytes: Buffer): number {
    const from = Math.max(0, bytes.length - this.#mark.length + 1)
    for (let at = bytes.indexOf(0x1b, from); at >= 0; at = bytes.indexOf(0x1b, at + 1)) {
      const tail = bytes.subarray(at)
      if (tail.equals(this.#mark.subarray(0, tail.length))) return tail.length
    }
    return 0
  }
}
