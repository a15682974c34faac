import type { Component } from '@earendil-works/pi-tui'
import { truncateToWidth, visibleWidth } from '@earendil-works/pi-tui'
import type { Theme } from '../theme/theme.ts'
import { oneLine } from '../transcript/text.ts'

/** The upper edge of the transcript, with what is shown in it. */
export class TopBorder implements Component {
  #theme: Theme
  #title: () => readonly string[]

  constructor(theme: Theme, title: () => readonly string[]) {
    this.#theme = theme
    this.#title = title
  }

  invalidate(): void {}

  render(width: number): string[] {
    if (width < 8) return [this.#theme.accent('─'.repeat(width))]
    const title = truncateToWidth(
      this.#title()
        .map((word) => oneLine(word, 200))
        .join(' · '),
      width - 6,
      '…',
    )
    const rest = '─'.repeat(width - 5 - visibleWidth(title))
    const { accent, strong } = this.#theme
    return [`${accent('╭─')} ${strong(accent(title))} ${accent(`${rest}╮`)}`]
  }
}

export class BottomBorder implements Component {
  #theme: Theme

  constructor(theme: Theme) {
    this.#theme = theme
  }

  invalidate(): void {}

  render(width: number): string[] {
    return [this.#theme.accent(width < 8 ? '─'.repeat(width) : `╰${'─'.repeat(width - 2)}╯`)]
  }
}
