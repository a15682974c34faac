import type { Component, Focusable } from '@earendil-works/pi-tui'
import type { Command } from '../../../core/talk/command.ts'
import type { Theme } from '../theme/theme.ts'

export type PaletteParts = {
  theme: Theme
  commands: readonly Command[]
  query: string
  pick(command: Command): void
  close(): void
}

/** Every command, found by a few letters of it. */
export class Palette implements Component, Focusable {
  focused = false
  #parts: PaletteParts

  constructor(parts: PaletteParts) {
    this.#parts = parts
  }

  invalidate(): void {}

  handleInput(data: string): void {
    if (data === '\x1b') this.#parts.close()
  }

  render(width: number): string[] {
    return this.#parts.commands.map(({ name }) => `/${name}`.slice(0, width))
  }
}
