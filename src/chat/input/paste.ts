import type { Clock } from '../../base/time/clock.ts'
import { cleanText } from '../../base/text/ansi.ts'

const begin = '\x1b[200~'
const end = '\x1b[201~'

/** How long after a paste keys still count as part of it: faster than any hand, slower than the chunks of a paste. */
const pasteGapMs = 30

/** Input from the terminal: a key, a complete paste, or text that follows a paste too fast to be typed. */
export type InputPiece = { type: 'key' | 'paste' | 'text'; text: string }

/**
 * Distinguishes pastes from keys. A paste may contain its own end marker, and the text after it would be taken for keys, possibly with an
 * Enter. Therefore the last end marker counts, and input right after a paste is text.
 */
export class PasteReader {
  #clock: Clock | undefined
  #open: string | undefined
  #last = -Infinity

  /** Without a clock every key counts as typed. */
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
    this.#noteTime()
    return [{ type: 'paste', text: cleanText(text) }, ...this.#typed(rest)]
  }

  #typed(data: string): InputPiece[] {
    if (data === '' || data === end) return []
    if (!this.#clock || this.#clock.elapsed() - this.#last >= pasteGapMs) return [{ type: 'key', text: data }]
    this.#noteTime()
    const text = cleanText(data)
    return text === '' ? [] : [{ type: 'text', text }]
  }

  #noteTime(): void {
    if (this.#clock) this.#last = this.#clock.elapsed()
  }
}
