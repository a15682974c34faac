import type { OverlayHandle, TUI } from '@earendil-works/pi-tui'
import type { Command } from '../../../core/talk/command.ts'
import type { Theme } from '../theme/theme.ts'
import { Palette } from '../palette/palette.ts'
import { Guarded } from './guarded.ts'

export type FinderParts = {
  tui: TUI
  theme: Theme
  commands(): readonly Command[]
  pick(command: Command): void
  closed(): void
  broken(error: unknown): void
}

/** The palette over the transcript, one at a time. */
export class Finder {
  #parts: FinderParts
  #overlay: OverlayHandle | undefined

  constructor(parts: FinderParts) {
    this.#parts = parts
  }

  open(query: string): void {
    this.close()
    const { tui, theme, commands, pick, broken } = this.#parts
    const palette = new Palette({
      theme,
      commands: commands(),
      query,
      pick: (command) => {
        this.close()
        pick(command)
      },
      close: () => this.close(),
    })
    this.#overlay = tui.showOverlay(new Guarded(palette, broken), {
      width: Math.min(80, tui.terminal.columns - 4),
      maxHeight: '80%',
    })
  }

  close(): void {
    if (!this.#overlay) return
    this.#overlay.hide()
    this.#overlay = undefined
    this.#parts.closed()
  }
}
