import type { Component, Focusable, TUI } from '@earendil-works/pi-tui'
import type { Clock } from '../../../base/clock.ts'
import type { Desk } from '../desk.ts'
import type { Theme } from '../theme/theme.ts'

export type InputParts = {
  tui: TUI
  theme: Theme
  desk: Desk
  clock: Clock
  onSubmit(text: string): void
  openPalette(query: string): void
  /** Hands the text to the person's own editor; undefined when it was left without saving. */
  edit(text: string): Promise<string | undefined>
}

/** Where a person types: the queue above it, the popup below the words that call for it. */
export class InputBox implements Component, Focusable {
  focused = false
  #parts: InputParts
  #text = ''
  #queue: readonly string[] = []

  constructor(parts: InputParts) {
    this.#parts = parts
  }

  setQueue(texts: readonly string[]): void {
    this.#queue = texts
  }

  fill(text: string): void {
    this.#text = text
  }

  text(): string {
    return this.#text
  }

  /** Whether there was anything to clear. */
  clear(): boolean {
    const had = this.#text !== ''
    this.#text = ''
    return had
  }

  popupOpen(): boolean {
    return false
  }

  closePopup(): void {}

  invalidate(): void {}

  handleInput(data: string): void {
    if (data === '\r') this.#parts.onSubmit(this.#text)
    else this.#text += data
  }

  render(width: number): string[] {
    return [...this.#queue, this.#text].map((line) => line.slice(0, width))
  }
}
