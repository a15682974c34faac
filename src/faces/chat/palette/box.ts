import type { Paint } from '../theme/theme.ts'
import { truncateToWidth, visibleWidth } from '@earendil-works/pi-tui'

/** How many columns a box takes for itself. */
export const boxSides = 4

/** Lines in a frame of exactly `width` columns; `title` and `foot` sit in its upper and lower edge. */
export function boxed(
  lines: readonly string[],
  width: number,
  paint: Paint,
  words: { title?: string; foot?: string } = {},
): string[] {
  const inside = Math.max(1, width - boxSides)
  return [
    edge('╭', '╮', width, paint, words.title),
    ...lines.map((line) => `${paint('│')} ${fitted(line, inside)} ${paint('│')}`),
    edge('╰', '╯', width, paint, words.foot),
  ]
}

/** Exactly that wide: what is too long is cut, what is too short is filled. */
export function fitted(line: string, width: number): string {
  const cut = truncateToWidth(line, width, '…')
  return cut + ' '.repeat(Math.max(0, width - visibleWidth(cut)))
}

function edge(left: string, right: string, width: number, paint: Paint, words = ''): string {
  const label = visibleWidth(words) > 0 && width > 10 ? ` ${truncateToWidth(words, width - 6, '…')} ` : ''
  const rest = Math.max(0, width - 3 - visibleWidth(label))
  return `${paint(`${left}─`)}${label}${paint(`${'─'.repeat(rest)}${right}`)}`
}
