import type { Theme } from '../theme/theme.ts'
import { truncateToWidth } from '@earendil-works/pi-tui'
import { clean } from './paste.ts'

const most = 3

/** What was typed while a turn runs, oldest first, a line for each; the newest can be taken back. */
export function queueLines(texts: readonly string[], width: number, theme: Theme): string[] {
  const hidden = Math.max(0, texts.length - most)
  const lines = texts.slice(hidden).map((text, at, shown) => {
    const words = clean(text).replace(/\s+/g, ' ')
    const hint = at === shown.length - 1 ? '  (Up takes it back)' : ''
    const room = width - hint.length
    return room > 30 ? truncateToWidth(` ↳ waiting: ${words}`, room, '…') + hint : ` ↳ waiting: ${words}`
  })
  const all = hidden > 0 ? [` ↳ ${hidden} more waiting`, ...lines] : lines
  return all.map((line) => theme.quiet(truncateToWidth(line, width, '…')))
}
