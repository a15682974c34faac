import type { Component, Focusable, TuiMouseEvent, TuiMouseEventResult } from '@earendil-works/pi-tui'
import { isFocusable } from '@earendil-works/pi-tui'

/** Runs work. A fault is passed to `broken` and is not thrown. */
export function guard<T>(work: () => T, broken: (error: unknown) => void): T | undefined {
  try {
    return work()
  } catch (error) {
    broken(error)
    return undefined
  }
}

/** A component whose faults end the chat cleanly, instead of leaving the terminal in disorder. */
export class GuardedComponent implements Component, Focusable {
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
    return guard(() => this.#inner.render(width), this.#broken) ?? []
  }

  handleInput(data: string): void {
    guard(() => this.#inner.handleInput?.(data), this.#broken)
  }

  handleMouse(event: TuiMouseEvent): TuiMouseEventResult | undefined {
    return guard(() => this.#inner.handleMouse?.(event), this.#broken)
  }

  invalidate(): void {
    guard(() => this.#inner.invalidate(), this.#broken)
  }
}
