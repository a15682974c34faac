import type { Screen } from '../core/screen/terminal.ts'

/** What stands in these rows of a screen before its cursor: placeholders and suggestions stand behind it, and are nothing. */
export function beforeCursor({ rows, cursor }: Screen, from: number, to: number, margin: number): string {
  const inside = cursor.row >= from && cursor.row < to
  return rows
    .slice(from, inside ? cursor.row + 1 : to)
    .map((row, index) => row.slice(margin, inside && from + index === cursor.row ? cursor.col : undefined))
    .join('\n')
    .trim()
}
