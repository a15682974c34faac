import type { Component, OverlayHandle, TUI } from '@earendil-works/pi-tui'
import { GuardedComponent } from './guarded-component.ts'

/** The rows above and below a part of the screen. */
export type ScreenMargin = { top: number; bottom: number }

/** The height and the place of the overlay, and the rows that it leaves free, which follow the window. It is as wide as the window. */
type OverlaySize = {
  maxHeight: `${number}%`
  anchor?: 'bottom-center'
  margin?(): ScreenMargin
}

type OverlayParts = { tui: TUI; closed(): void; broken(error: unknown): void }

/** Shows one component at a time over the transcript, until it is closed. */
export class Overlay {
  #parts: OverlayParts
  #shown: OverlayHandle | undefined

  constructor(parts: OverlayParts) {
    this.#parts = parts
  }

  get isOpen(): boolean {
    return this.#shown !== undefined
  }

  show(component: Component, { maxHeight, anchor, margin }: OverlaySize): void {
    const { tui, broken } = this.#parts
    this.#shown = tui.showOverlay(new GuardedComponent(component, broken), {
      // The width and the margin are read at every paint, so that the component follows the window.
      get width() {
        return tui.terminal.columns
      },
      get margin() {
        return margin?.() ?? 0
      },
      maxHeight,
      ...(anchor && { anchor }),
    })
  }

  close(): void {
    if (!this.#shown) return
    this.#shown.hide()
    this.#shown = undefined
    this.#parts.closed()
  }
}

/** With fewer rows inside the transcript, an overlay takes this part of the whole screen. */
const leastRows = 8
const part = 0.8

/** The place right above the input, over the transcript: its margins, and how many rows an overlay has there. */
export function aboveInput(
  tui: TUI,
  transcript: () => ScreenMargin,
): { anchor: 'bottom-center'; maxHeight: '100%'; margin(): ScreenMargin; height(): number } {
  const rows = ({ top, bottom }: ScreenMargin) => tui.terminal.rows - top - bottom
  const isLow = () => rows(transcript()) < leastRows
  return {
    anchor: 'bottom-center',
    maxHeight: '100%',
    margin: () => (isLow() ? { top: 0, bottom: 0 } : transcript()),
    height: () => (isLow() ? Math.floor(tui.terminal.rows * part) : rows(transcript())),
  }
}
