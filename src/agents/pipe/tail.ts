/** The last words of a stream, however long it was. */
export class Tail {
  #text = ''
  #limit: number

  constructor(limit = 16 * 1024) {
    this.#limit = limit
  }

  add(text: string): void {
    this.#text += text
    // Cut now and then, not at each word: a short text is not copied again and again.
    if (this.#text.length > 4 * this.#limit) this.#text = this.#text.slice(-this.#limit)
  }

  get text() {
    return this.#text.slice(-this.#limit)
  }
}

/** The last line that says something, short enough for a message. */
export function lastLine(text: string): string {
  const line = text.trimEnd().split('\n').at(-1)!.trim()
  return line.length > 300 ? `${line.slice(0, 300)}…` : line
}
