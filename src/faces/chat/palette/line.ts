import type { Clock } from '../../../base/clock.ts'
import type { Focusable } from '@earendil-works/pi-tui'
import { Input } from '@earendil-works/pi-tui'
import { PasteReader, clean } from '../input/paste.ts'

/** One line to type in; whatever is pasted into it is text on that line. */
export class Line implements Focusable {
  #input: Input
  #pastes: PasteReader

  constructor(parts: { clock?: Clock; prompt?: string; placeholder?: string; text?: string }) {
    this.#input = new Input({ prompt: parts.prompt ?? '', placeholder: parts.placeholder ?? '' })
    this.#pastes = new PasteReader(parts.clock)
    this.#insert(parts.text ?? '')
  }

  get focused(): boolean {
    return this.#input.focused
  }

  set focused(focused: boolean) {
    this.#input.focused = focused
  }

  get text(): string {
    return this.#input.getValue()
  }

  handleInput(data: string): void {
    for (const { type, text } of this.#pastes.read(data)) {
      if (type !== 'key') this.#insert(text)
      else if (!/[\x80-\x9f]/.test(text)) this.#input.handleInput(text)
    }
  }

  /** The library takes a paste where the cursor is: that is the one way to put text there. */
  #insert(text: string): void {
    const words = clean(text).replace(/\s+/g, ' ')
    if (words) this.#input.handleInput(`\x1b[200~${words}\x1b[201~`)
  }

  render(width: number): string {
    return this.#input.render(width)[0] ?? ''
  }
}
