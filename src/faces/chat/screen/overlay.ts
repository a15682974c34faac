import type { Component, OverlayHandle, TUI } from '@earendil-works/pi-tui'
import { GuardedComponent } from './guarded-component.ts'

/** The size of what is shown; both follow the window. */
type OverlaySize = { width(columns: number): number; maxHeight: `${number}%` }

type OverlayParts = { tui: TUI; closed(): void; broken(error: unknown): void }

/** Shows one thing at a time over the transcript, until it is closed. */
export class Overlay {
  #parts: OverlayParts
  #shown: OverlayHandle | undefined

  constructor(parts: OverlayParts) {
    this.#parts = parts
  }

  get isOpen(): boolean {
    return this.#shown !== undefined
  }

  show(component: Component, { width, maxHeight }: OverlaySize): void {
    const { tui, broken } = this.#parts
    this.#shown = tui.showOverlay(new GuardedComponent(component, broken), {
      // Read at every paint, so that the component follows the window.
      get width() {
        return width(tui.terminal.columns)
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
