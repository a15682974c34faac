import type { Component, Focusable, TuiMouseEvent, TuiMouseEventResult } from '@earendil-works/pi-tui'
import { isFocusable } from '@earendil-works/pi-tui'

/** A component whose faults end the screen in order, instead of leaving the terminal as it was. */
export class Guarded implements Component, Focusable {
  #inner: Component
  #broken: (error: unknown) => void

  constructor(inner: Component, broken: (error: unknown) => void) {
    this.#inner = inner
    this.#broken = broken
  }

  get focused(): boolean {
    return isFocusable(this.#inner) && this.#inner.focused
  }

  set focused(value: boolean) {
    if (isFocusable(this.#inner)) this.#inner.focused = value
  }

  render(width: number): string[] {
    return this.#guard(() => this.#inner.render(width)) ?? []
  }

  handleInput(data: string): void {
    this.#guard(() => this.#inner.handleInput?.(data))
  }

  handleMouse(event: TuiMouseEvent): TuiMouseEventResult | undefined {
    return this.#guard(() => this.#inner.handleMouse?.(event))
  }

  invalidate(): void {
    this.#guard(() => this.#inner.invalidate())
  }

  #guard<T>(work: () => T): T | undefined {
    try {
      return work()
    } catch (error) {
      this.#broken(error)
      return undefined
    }
  }
}
