import type { Component, OverlayHandle, TUI } from '@earendil-works/pi-tui'
import { GuardedComponent } from './guarded-component.ts'

/** The rows above and below a part of the screen, and the columns at each of its sides. */
export type ScreenMargin = { top: number; bottom: number; sides: number }

/** The size of the overlay, and the rows that it leaves free; both follow the window. */
type OverlaySize = {
  width(columns: number): number
  maxHeight: `${number}%`
  margin?(): Pick<ScreenMargin, 'top' | 'bottom'>
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

  show(component: Component, { width, maxHeight, margin }: OverlaySize): void {
    const { tui, broken } = this.#parts
    this.#shown = tui.showOverlay(new GuardedComponent(component, broken), {
      // The size is read at every paint, so that the component follows the window.
      get width() {
        return width(tui.terminal.columns)
      },
      get margin() {
        return margin?.() ?? 0
      },
      maxHeight,
    })
  }

  close(): void {
    if (!this.#shown) return
    this.#shown.hide()
    this.#shown = undefined
    this.#parts.closed()
  }
}
