/**
 * A piece of what an interpreter wrote: what code printed, or a mark of its driver: `begin`, `line` before what does not
 * go on with a line that code began, and at the end the exit code.
 */
export type Piece = { bytes: Uint8Array; mark?: undefined } | { mark: string }

/** Finds `<nonce><word>;` in a stream, wherever its chunks are cut; all else is what code printed. */
export class Marks {
  #nonce: string
  #unread: Buffer

  constructor(nonce: string, unread: Uint8Array = new Uint8Array()) {
    this.#nonce = nonce
    this.#unread = Buffer.from(unread)
  }

  push(chunk: Uint8Array): void {
    this.#unread = this.#unread.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#unread, chunk])
  }

  /** The next piece that is whole; what may be the beginning of a mark is held back. */
  next(): Piece | undefined {
    const at = this.#unread.indexOf(this.#nonce)
    const plain = at < 0 ? this.#unread.length - this.#begun() : at
    if (plain > 0) return { bytes: this.#take(plain) }
    const end = at < 0 ? -1 : this.#unread.indexOf(';', this.#nonce.length)
    return end < 0 ? undefined : { mark: this.#take(end + 1).toString('utf8', this.#nonce.length, end) }
  }

  /** What no piece was made of. */
  rest(): Uint8Array {
    return this.#take(this.#unread.length)
  }

  /** How many of the last bytes could begin the nonce. */
  #begun(): number {
    const most = Math.min(this.#nonce.length - 1, this.#unread.length)
    for (let length = most; length > 0; length--)
      if (this.#nonce.startsWith(this.#unread.toString('latin1', this.#unread.length - length))) return length
    return 0
  }

  #take(bytes: number): Buffer {
    const taken = this.#unread.subarray(0, bytes)
    this.#unread = this.#unread.subarray(bytes)
    return taken
  }
}
