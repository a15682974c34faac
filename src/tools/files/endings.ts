/**
 * A text whose lines all end alike, and the way back: what a model sends has plain line ends, a file may have others,
 * and what is not touched keeps its own.
 */
export class Endings {
  readonly plain: string
  #text: string
  /** Where carriage returns were taken out, as places in the plain text. */
  #returns: number[] = []
  #usual: '\n' | '\r\n'

  constructor(text: string) {
    this.#text = text
    this.plain = text.replaceAll('\r\n', (_pair, at: number) => {
      this.#returns.push(at - this.#returns.length)
      return '\n'
    })
    const lines = this.plain.split('\n').length - 1
    this.#usual = this.#returns.length * 2 > lines ? '\r\n' : '\n'
  }

  /** The text with a stretch of the plain one replaced. */
  replaced(at: number, length: number, plain: string): string {
    const [from, to] = [this.#back(at), this.#back(at + length)]
    return this.#text.slice(0, from) + plain.replaceAll('\n', this.#ending(from, to)) + this.#text.slice(to)
  }

  /** As the lines that go away end; where none does, as most do. */
  #ending(from: number, to: number): string {
    const old = this.#text.slice(from, to)
    if (!old.includes('\n')) return this.#usual
    return old.includes('\r\n') ? '\r\n' : '\n'
  }

  /** A place in the plain text, in the text. */
  #back(at: number): number {
    let [low, high] = [0, this.#returns.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#returns[middle]! < at) low = middle + 1
      else high = middle
    }
    return at + low
  }
}

export const plainEndings = (text: string) => text.replaceAll('\r\n', '\n')
