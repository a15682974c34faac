import type { Component, Focusable } from '@earendil-works/pi-tui'
import type { Clock } from '../../../base/clock.ts'
import type { Question } from '../../../core/talk/question.ts'
import type { Theme } from '../theme/theme.ts'

export type CardParts = {
  theme: Theme
  question: Question
  /** Who asks. */
  by?: string
  clock: Clock
  /** Something on it looks different now. */
  changed(): void
  answer(picks?: string[]): void
}

/** One question and what may be answered. */
export class Card implements Component, Focusable {
  focused = false
  #parts: CardParts

  constructor(parts: CardParts) {
    this.#parts = parts
  }

  close(): void {}

  invalidate(): void {}

  handleInput(data: string): void {
    const option = this.#parts.question.options[Number(data) - 1]
    if (option) this.#parts.answer([option.id])
  }

  render(width: number): string[] {
    return [this.#parts.question.text.slice(0, width)]
  }
}
