import type { Interface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { safeText } from '../transcript/screen-text.ts'

/** A terminal's raw mode, where it has one. */
type Keys = Readable & { setRawMode?(raw: boolean): void }

/** Writes below what is there, and never over it: a line that somebody is typing is shown again after what was said. */
export class LineWriter {
  #reader: Interface;
  #in: Keys
  #out: Writable
  #waits = false
  #closed = false

  constructor(reader: Interface, input: Keys, output: Writable) {
    this.#reader = reader.once('close', () => (this.#closed = true))
    this.#in = input
    this.#out = output
  }

  say(text: string): void {
    const below = this.#waits || this.#reader.line !== ''
    this.#waits = false
    this.#out.write(`${below ? '\n' : ''}${safeText(text)}\n`)
  }

  /** Asks for a line, unless it does already or nobody is left. */
  prompt(): void {
    if (this.#waits || this.#closed) return
    this.#waits = true
    this.#reader.prompt(true)
  }

  /** A line was typed, and ended itself. */
  ended(): void {
    this.#waits = false
  }

  /** Whether there was something typed to throw away. */
  drop(): boolean {
    if (this.#reader.line === '') return false
    this.#reader.write(null, { ctrl: true, name: 'e' })
    this.#reader.write(null, { ctrl: true, name: 'u' })
    this.say('')
    return true
  }

  /** Another program gets the terminal as a shell would give it. */
  async lend<T>(work: () => Promise<T>): Promise<T> {
    this.#reader.pause()
    this.#in.setRawMode?.(false)
    try {
      return await work()
    } finally {
      this.#in.setRawMode?.(true)
      this.#reader.resume()
    }
  }
}
