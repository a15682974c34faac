import type { Container, TUI } from '@earendil-works/pi-tui'
import type { Clock } from '../../../base/clock.ts'
import type { InputBox } from '../input/input.ts'
import type { OpenAsk } from '../state.ts'
import type { Theme } from '../theme/theme.ts'
import { Card } from '../cards/card.ts'
import { Guarded } from './guarded.ts'

export type SlotParts = {
  tui: TUI
  place: Container
  input: InputBox
  theme: Theme
  clock: Clock
  answer(ask: string, picks?: string[]): void
  broken(error: unknown): void
  /** How many rows the place can have, when all else gives way. */
  room(): number
}

/** A card of so many rows may take nearly all of a small screen; a taller one leaves some of the transcript in sight. */
const most = 18

/** The place where a person types, or answers: a card takes it as long as its question is open. */
export class Slot {
  #parts: SlotParts
  #input: Guarded
  #shown: { ask: string; card: Card } | undefined

  constructor(parts: SlotParts) {
    this.#parts = parts
    this.#input = new Guarded(parts.input, parts.broken)
    this.#take(this.#input)
  }

  get card(): Card | undefined {
    return this.#shown?.card
  }

  show(asks: readonly OpenAsk[]): void {
    const [first] = asks
    if (first?.ask === this.#shown?.ask) return
    this.#shown?.card.close()
    this.#shown = first && { ask: first.ask, card: this.#cardOf(first) }
    this.#take(this.#shown ? new Guarded(this.#shown.card, this.#parts.broken) : this.#input)
  }

  close(): void {
    this.#shown?.card.close()
  }

  #cardOf({ ask, question, by }: OpenAsk): Card {
    const { theme, clock, tui, answer } = this.#parts
    return new Card({
      theme,
      question,
      ...(by === undefined ? {} : { by }),
      clock,
      rows: () => Math.max(Math.min(most, this.#parts.room()), Math.floor(this.#parts.room() * 0.75)),
      changed: () => tui.requestRender(),
      answer: (picks) => answer(ask, picks),
    })
  }

  #take(component: Guarded): void {
    const { place, tui } = this.#parts
    place.clear()
    place.addChild(component)
    // An overlay that is open keeps the keys until it is closed.
    if (!tui.hasOverlay()) tui.setFocus(component)
  }

  /** Gives the keys back to whoever is in the place. */
  focus(): void {
    this.#parts.tui.setFocus(this.#parts.place.children[0] ?? null)
  }
}
