import type { Component } from '@earendil-works/pi-tui'
import type { Theme } from './theme.ts'
import { truncateToWidth, visibleWidth } from '@earendil-works/pi-tui'
import { oneLine } from './safe-text.ts'

/** The upper edge of the transcript, with its title. */
export class TopBorder implements Component {
  #theme: Theme
  #title: () => readonly string[]
  #corners: readonly [string, string]

  /** Without sides below it, the edge has no corners. */
  constructor(theme: Theme, title: () => readonly string[], { sides = true } = {}) {
    this.#theme = theme
    this.#title = title
    this.#corners = sides ? ['╭', '╮'] : ['─', '─']
  }

  invalidate(): void {}

  render(width: number): string[] {
    const { accent, strong } = this.#theme
    if (width < 8) return [accent('─'.repeat(width))]
    const title = truncateToWidth(
      this.#title()
        .map((word) => oneLine(word, 200))
        .join(' · '),
      width - 6,
      '…',
    )
    const rest = '─'.repeat(width - 5 - visibleWidth(title))
    const [left, right] = this.#corners
    return [`${accent(`${left}─`)} ${strong(accent(title))} ${accent(`${rest}${right}`)}`]
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

/** Marks a prompt, so that terminals can jump to it; must be at the beginning of a line. */
export const promptMark = '\x1b]133;A\x07'

/** With fewer columns there are no sides, because the text needs their space. */
const leastColumns = 24

/** Whether the border of a screen that wide has sides. */
export const hasSides = (columns: number): boolean => columns >= leastColumns

/** The width between the two sides of the border. */
export function innerWidth(columns: number): number {
  return Math.max(1, hasSides(columns) ? columns - 4 : columns)
}

/**
 * A line of the transcript between the sides of its border. The sides are part of the line: drawing them over every row of every frame
 * would cost more than the rest of the frame.
 */
export function withSides(line: string, columns: number, theme: Theme): string {
  if (!hasSides(columns)) return line
  const marked = line.startsWith(promptMark)
  const text = marked ? line.slice(promptMark.length) : line
  const room = spaces(Math.max(0, innerWidth(columns) - visibleWidth(text)))
  const edge = theme.accent('│')
  return `${marked ? promptMark : ''}${edge} ${text}${closingSequence(text)}${room} ${edge}`
}

const knownSpaces: string[] = []

/** A run of spaces; each length is made once, because every line of the transcript needs some. */
function spaces(count: number): string {
  return (knownSpaces[count] ??= ' '.repeat(count))
}

/** A selected text, without the border that was selected along with it. */
export function withoutSides(text: string): string {
  return text
    .split('\n')
    .map((line) => line.replace(/^│ ?/, '').replace(/ *│$/, ''))
    .join('\n')
}

/** Closes the colours and links of a line, so that none of them reaches the border. */
function closingSequence(text: string): string {
  if (!text.includes('\x1b')) return ''
  return text.includes('\x1b]8;') ? '\x1b]8;;\x1b\\\x1b[0m' : '\x1b[0m'
}
