const mostBytes = 1 << 20

/** The last bytes a terminal printed, cut where a character begins. */
export class Printed {
  #bytes = Buffer.alloc(0)
  #limit: number
  #cut = false

  constructor(limit = mostBytes) {
    this.#limit = Math.min(limit, mostBytes)
  }

  add(chunk: Uint8Array): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk])
    if (this.#bytes.length <= this.#limit) return
    this.#cut = true
    let from = this.#bytes.length - this.#limit
    while (from < this.#bytes.length && isInside(this.#bytes[from]!)) from++
    this.#bytes = Buffer.from(this.#bytes.subarray(from))
  }

  get output(): { output: string; truncated: boolean } {
    return { output: this.#bytes.toString('utf8'), truncated: this.#cut }
  }
}

/** Whether a byte goes on with the character before it. */
const isInside = (byte: number) => (byte & 0b1100_0000) === 0b1000_0000
