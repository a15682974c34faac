import type { Clock } from '../../../base/clock.ts'

const begin = '\x1b[200~'
const end = '\x1b[201~'

/** How long after a paste keys still count as part of it: no hand is as fast, and no chunk of a paste as slow. */
const breathMs = 30

/** What came from the terminal: a key, a paste that has come to its end, or text that is none of a person's keys. */
export type InputPiece = { type: 'key' | 'paste' | 'text'; text: string }

/**
 * Tells pastes from keys. A paste that holds the mark of its own end would otherwise go on as keys, an Enter among
 * them: so the last end counts, and what comes in one breath with a paste is text.
 */
export class PasteReader {
  #clock: Clock | undefined
  #open: string | undefined
  #last = -Infinity

  /** Without a clock every key is a person's. */
  constructor(clock?: Clock) {
    this.#clock = clock
  }

  read(data: string): InputPiece[] {
    if (this.#open === undefined) {
      const at = data.indexOf(begin)
      if (at < 0) return this.#typed(data)
      this.#open = ''
      return [...this.#typed(data.slice(0, at)), ...this.read(data.slice(at + begin.length))]
    }
    this.#open += data
    const at = this.#open.lastIndexOf(end)
    if (at < 0) return []
    const [text, rest] = [this.#open.slice(0, at), this.#open.slice(at + end.length)]
    this.#open = undefined
    this.#breathe()
    return [{ type: 'paste', text: cleanText(text) }, ...this.#typed(rest)]
  }

  #typed(data: string): InputPiece[] {
    if (data === '' || data === end) return []
    if (!this.#clock || this.#clock.now() - this.#last >= breathMs) return [{ type: 'key', text: data }]
    this.#breathe()
    const text = cleanText(data)
    return text === '' ? [] : [{ type: 'text', text }]
  }

  #breathe(): void {
    if (this.#clock) this.#last = this.#clock.now()
  }
}

/** Terminals that write control bytes of a paste as keys: Ctrl+J and Ctrl+M are its line ends. */
const encodedLineEnd = /\x1b\[(?:106|109|74|77);5u/g
const sequence = /\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)/g
const control = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g

/** Text and nothing else: closed escape sequences go whole; of one that never closes only its first character does. */
export function cleanText(text: string): string {
  return text
    .replace(encodedLineEnd, '\n')
    .replace(sequence, '')
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replace(control, '')
}
