import type { Focusable } from '@earendil-works/pi-tui'
import { Input } from '@earendil-works/pi-tui'
import { clean } from '../input/paste.ts'

/** One line to type in; a secret one shows how much was typed, and nothing of it. */
export class Line implements Focusable {
  #input: Input
  #secret: boolean

  constructor(parts: { placeholder?: string; text?: string; secret?: boolean } = {}) {
    this.#secret = parts.secret ?? false
    this.#input = new Input({ prompt: '', placeholder: parts.placeholder ?? '' })
    this.insert(parts.text ?? '')
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

  /** A key. As bytes, those left out begin escape sequences: no keyboard sends them. */
  handleInput(key: string): void {
    if (!/[\x80-\x9f]/.test(key)) this.#input.handleInput(key)
  }

  /** A text that came as a whole. The library takes a paste where the cursor is: that is the one way to put it there. */
  insert(text: string): void {
    const words = clean(text).replace(/\s+/g, ' ')
    if (words) this.#input.handleInput(`\x1b[200~${words}\x1b[201~`)
  }

  render(width: number): string {
    if (this.#secret && this.text !== '') return '•'.repeat(Math.min([...this.text].length, width))
    return this.#input.render(width)[0] ?? ''
  }
}
