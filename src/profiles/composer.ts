import type { Screen } from '../core/screen/terminal.ts'

/** The rows of a composer; what each begins with, and what stands in it when nothing does. */
export type Composer = { from: number; to: number; margin: number; placeholder?: string }

/** What stands in a composer before the cursor: placeholders and suggestions stand behind it, and are nothing. */
export function beforeCursor({ rows, cursor }: Screen, { from, to, margin, placeholder }: Composer): string {
  // While a program draws, its cursor may be anywhere.
  const inside = cursor.row >= from && cursor.row < to
  const text = rows
    .slice(from, inside ? cursor.row + 1 : to)
    .map((row, index) => row.slice(margin, inside && from + index === cursor.row ? cursor.col : undefined).trimEnd())
    .join('\n')
    .trim()
  return text === placeholder ? '' : text
}

/** The composer that stands between two rules and begins with a prompt of its own. */
export function ruledComposer(screen: Screen, prompt: RegExp, rule: RegExp, placeholder?: string): string | undefined {
  const { rows } = screen
  const from = rows.findLastIndex((row, at) => prompt.test(row) && rule.test(rows[at - 1] ?? ''))
  if (from < 0) return undefined
  const below = rows.findIndex((row, at) => at > from && rule.test(row))
  const to = below < 0 ? rows.length : below
  return beforeCursor(screen, { from, to, margin: 2, ...(placeholder === undefined ? {} : { placeholder }) })
}
