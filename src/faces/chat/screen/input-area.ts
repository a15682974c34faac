import type { Container, TUI } from '@earendil-works/pi-tui'
import type { Clock } from '../../../base/clock.ts'
import type { InputBox } from '../input/input-box.ts'
import type { OpenQuestion } from '../chat-state.ts'
import type { Theme } from '../theme.ts'
import { Card } from '../cards/card.ts'
import { GuardedComponent } from './guarded-component.ts'

type InputAreaParts = {
  tui: TUI
  place: Container
  input: InputBox
  theme: Theme
  clock: Clock
  answer(ask: string, picks?: string[]): void
  broken(error: unknown): void
  /** How many rows the area can have with the borders of the screen, and without them. */
  room(): number
  wholeRoom(): number
}

/** The area below the transcript: the input, or a card while its question is open. */
export class InputArea {
  #parts: InputAreaParts
  #input: GuardedComponent
  #shown: { ask: string; card: Card } | undefined

  constructor(parts: InputAreaParts) {
    this.#parts = parts
    this.#input = new GuardedComponent(parts.input, parts.broken)
    this.#take(this.#input)
  }

  get card(): Card | undefined {
    return this.#shown?.card
  }

  /** Whether a card with a long body is open, which needs the whole screen. */
  get reading(): boolean {
    return this.#shown?.card.isLong(this.#parts.tui.terminal.columns) ?? false
  }

  show(asks: readonly OpenQuestion[]): void {
    const [first] = asks
    if (first?.ask === this.#shown?.ask) return
    this.#shown?.card.close()
    this.#shown = first && { ask: first.ask, card: this.#cardOf(first) }
    this.#take(this.#shown ? new GuardedComponent(this.#shown.card, this.#parts.broken) : this.#input)
  }

  close(): void {
    this.#shown?.card.close()
  }

  #cardOf({ ask, question, by }: OpenQuestion): Card {
    const { theme, clock, tui, answer } = this.#parts
    return new Card({
      theme,
      question,
      by,
      clock,
      rows: () => this.#parts.room(),
      most: () => this.#parts.wholeRoom(),
      changed: () => tui.requestRender(),
      answer: (picks) => answer(ask, picks),
    })
  }

  #take(component: GuardedComponent): void {
    const { place, tui } = this.#parts
    place.clear()
    place.addChild(component)
    // The palette keeps the keys until it is closed.
    if (!tui.hasOverlay()) tui.setFocus(component)
  }

  /** Gives the keys back to the input or the card. */
  focus(): void {
    this.#parts.tui.setFocus(this.#parts.place.children[0] ?? null)
  }
}
