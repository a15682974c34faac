import { stripAnsi } from '../../base/ansi.ts'

/** The last of what a server wrote about itself; a chatty one costs no memory. */
export class Tail {
  #text = ''
  #limit: number
  /** How its process ended, when it did so by itself. */
  end = ''

  constructor(limit = 8_000) {
    this.#limit = limit
  }

  push(text: string): void {
    this.#text = (this.#text + text).slice(-this.#limit)
  }

  get text(): string {
    return stripAnsi(this.#text).trim()
  }

  /** Its last words, as a reason. */
  get last(): string {
    const line = this.text.split('\n').at(-1)!.slice(0, 300)
    return [line, this.end].filter(Boolean).join('; ')
  }
}
