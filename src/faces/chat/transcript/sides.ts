import type { Theme } from '../theme/theme.ts'
import { visibleWidth } from '@earendil-works/pi-tui'

/** How terminals mark a prompt, so that one can be jumped to; it is only seen at the beginning of a line. */
export const promptMark = '\x1b]133;A\x07'

/** Below this many columns the words need the room of the border. */
const leastColumns = 24

/** What is left of a line between the two sides of the border. */
export function inside(columns: number): number {
  return Math.max(1, columns < leastColumns ? columns : columns - 4)
}

/**
 * A line of the transcript between the sides of its border. They are part of the line: beside it they would have to be
 * laid over every row of every frame, which costs more than all the rest of a frame.
 */
export function sided(line: string, columns: number, theme: Theme): string {
  if (columns < leastColumns) return line
  const marked = line.startsWith(promptMark)
  const text = marked ? line.slice(promptMark.length) : line
  const room = ' '.repeat(Math.max(0, inside(columns) - visibleWidth(text)))
  const edge = theme.accent('│')
  return `${marked ? promptMark : ''}${edge} ${text}${ended(text)}${room} ${edge}`
}

/** What was selected on the screen without the border that was selected with it. */
export function unsided(text: string): string {
  return text
    .split('\n')
    .map((line) => line.replace(/^│ ?/, '').replace(/ *│$/, ''))
    .join('\n')
}

/** Nothing of a line reaches the border behind it. */
function ended(text: string): string {
  if (!text.includes('\x1b')) return ''
  return text.includes('\x1b]8;') ? '\x1b]8;;\x1b\\\x1b[0m' : '\x1b[0m'
}
