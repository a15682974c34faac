import type { Component, Container, TUI, TuiMouseEvent, TuiMouseEventResult } from '@earendil-works/pi-tui'
import type { Clock } from '../../base/time/clock.ts'
import type { InputBox } from '../input/input-box.ts'
import type { OpenQuestion } from '../state/chat-state.ts'
import type { Theme } from '../style/theme.ts'
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
  /** How many rows the area may have with the title of the screen, and without it. */
  room(): number
  wholeRoom(): number
}

/** The fewest rows that a card gets, if the screen has as many: the input below the card takes at most the rest. */
const leastCard = 8
/** The input has at least a row for the words, and one for the suggestion that Enter would take. */
const leastInput = 2

/** The area below the transcript: the input, or a card while its question is open, with the input below it while something is typed. */
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
    const { broken, input } = this.#parts
    if (!this.#shown) return this.#take(this.#input)
    const { card } = this.#shown
    const typed = new TypedInput(
      input,
      () => this.#mostTyped(),
      () => !card.takesKeys,
    )
    this.#take(new GuardedComponent(card, broken), new GuardedComponent(typed, broken))
  }

  #mostTyped(): number {
    return Math.max(leastInput, this.#parts.wholeRoom() - leastCard)
  }

  /** The rows of the text that is typed while a card is open. */
  #typedRows(): number {
    const { input, tui } = this.#parts
    return input.isEmpty ? 0 : input.render(tui.terminal.columns, this.#mostTyped()).length
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
      rows: () => this.#parts.room() - this.#typedRows(),
      most: () => this.#parts.wholeRoom() - this.#typedRows(),
      changed: () => tui.requestRender(),
      answer: (picks) => answer(ask, picks),
    })
  }

  /** Shows these components; the first of them gets the keys. */
  #take(first: GuardedComponent, ...others: GuardedComponent[]): void {
    const { place, tui } = this.#parts
    place.clear()
    for (const component of [first, ...others]) place.addChild(component)
    // An open palette gets the keys until it is closed.
    if (!tui.hasOverlay()) tui.setFocus(first)
  }

  /** Gives the keys back to the input or the card. */
  focus(): void {
    this.#parts.tui.setFocus(this.#parts.place.children[0] ?? null)
  }
}

/** The input below an open card: nobody should send words that they do not see. It takes no space while nothing is typed. */
class TypedInput implements Component {
  #input: InputBox
  #most: () => number
  #hasKeys: () => boolean

  constructor(input: InputBox, most: () => number, hasKeys: () => boolean) {
    this.#input = input
    this.#most = most
    this.#hasKeys = hasKeys
  }

  invalidate(): void {
    this.#input.invalidate()
  }

  render(width: number): string[] {
    if (this.#input.isEmpty) return []
    this.#input.focused = this.#hasKeys()
    return this.#input.render(width, this.#most())
  }

  /** A click does what it does in the input, and the card keeps the focus. */
  handleMouse(event: TuiMouseEvent): TuiMouseEventResult | undefined {
    const done = this.#input.handleMouse(event)
    return done && { handled: true }
  }
}
