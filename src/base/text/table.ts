import { stripAnsi } from './ansi.ts'

const widest = 160

/**
 * Formats rows as aligned columns; the last column is not padded. Control characters are removed, and long cells are cut in the middle.
 */
export function table(raw: readonly (readonly string[])[]): string {
  const rows = raw.map((row) =>
    row.map((cell, column) => (column === row.length - 1 ? plain(cell) : middleOut(plain(cell), widest))),
  )
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => width(row[column] ?? ''))))
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === row.length - 1 ? cell : cell + ' '.repeat(widths[column]! - width(cell))))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Lists names on one line; beyond `most` it only counts them. */
export function list(names: readonly string[], most = 20): string {
  const more = names.length > most ? [`and ${names.length - most} more`] : []
  return [...names.slice(0, most).map((name) => middleOut(plain(name), widest)), ...more].join(', ')
}

/** Puts a text on one line, without control characters. */
function plain(text: string): string {
  return stripAnsi(text.replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t'))
}

function middleOut(text: string, most: number): string {
  const letters = [...text]
  if (letters.length <= most) return text
  const half = Math.floor((most - 1) / 2)
  return `${letters.slice(0, half).join('')}…${letters.slice(-half).join('')}`
}

/** Counts the columns of a text: wide characters take two. Precise enough for names and words. */
function width(text: string): number {
  return [...text].reduce(
    (sum, character) =>
      sum +
      (/[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}]/u.test(
        character,
      )
        ? 2
        : 1),
    0,
  )
}

export function bytes(size: number): string {
  const units = ['B', 'KB', 'MB', 'GB']
  let unit = 0
  for (; size >= 1000 && unit < units.length - 1; unit++) size /= 1000
  return `${unit === 0 ? size : size.toFixed(1)} ${units[unit]}`
}

export function oneLine(text: string, length: number): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > length ? `${line.slice(0, length - 1)}…` : line
}
