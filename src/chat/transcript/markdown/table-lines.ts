import type { Align, Table } from './markdown-tables.ts'
import { visibleWidth, wrapTextWithAnsi } from '@earendil-works/pi-tui'

/** A word up to this long is not broken in a column; a table whose columns would be narrower is shown as a list. */
const longestWord = 20
/** A column of sentences is at least this wide, for the same reason. */
const readable = 10

/** Renders a table in columns if they are readable at that width, otherwise each row as a list of its cells. */
export function tableLines(table: Table, width: number, strong: (text: string) => string): string[] {
  const all = [table.heads, ...table.rows]
  const natural = table.heads.map((_, column) => Math.max(1, ...all.map((row) => visibleWidth(row[column]!))))
  const least = natural.map((most, column) => {
    const words = all.flatMap((row) => row[column]!.split(/\s+/)).map((word) => visibleWidth(word))
    return Math.min(most, longestWord, Math.max(readable, ...words))
  })
  const room = width - 3 * natural.length - 1
  if (sum(least) > room) return listLines(table, width, strong)
  return columnLines(table, columnWidths(natural, least, room), strong)
}

/**
 * Columns that are too wide share the room evenly and not by their contents: while a long cell is being written, the rows
 * above it then keep their places.
 */
function columnWidths(natural: readonly number[], least: readonly number[], room: number): number[] {
  const widthsAt = (level: number) => natural.map((most, column) => Math.min(most, Math.max(level, least[column]!)))
  let level = room
  while (level > 0 && sum(widthsAt(level)) > room) level--
  const widths = widthsAt(level)
  let left = room - sum(widths)
  return widths.map((width, column) => (left > 0 && width < natural[column]! && left-- > 0 ? width + 1 : width))
}

function columnLines({ heads, aligns, rows }: Table, widths: readonly number[], strong: (text: string) => string) {
  const rule = (left: string, middle: string, right: string) =>
    `${left}─${widths.map((width) => '─'.repeat(width)).join(`─${middle}─`)}─${right}`
  const drawn = (row: readonly string[], paint = (text: string) => text) => {
    const cells = row.map((cell, column) => wrappedCell(cell, widths[column]!))
    return Array.from({ length: Math.max(...cells.map((lines) => lines.length)) }, (_, at) => {
      const parts = cells.map((lines, column) => paint(padded(lines[at] ?? '', widths[column]!, aligns[column]!)))
      return `│ ${parts.join(' │ ')} │`
    })
  }
  const between = rule('├', '┼', '┤')
  return [
    rule('┌', '┬', '┐'),
    ...drawn(heads, strong),
    between,
    ...rows.flatMap((row, at) => (at === 0 ? drawn(row) : [between, ...drawn(row)])),
    rule('└', '┴', '┘'),
  ]
}

function padded(text: string, width: number, align: Align): string {
  const room = Math.max(0, width - visibleWidth(text))
  const before = align === 'right' ? room : align === 'center' ? Math.floor(room / 2) : 0
  return `${' '.repeat(before)}${text}${' '.repeat(room - before)}`
}

/** Resets the styles of a text that continues on the next line, so that the border has none of them. */
const plainAgain = '\x1b[22;23;24;25;27;28;29;39m'

function wrappedCell(text: string, width: number): string[] {
  const lines = wrapTextWithAnsi(text, Math.max(1, width)).map((line) => line.trimEnd())
  return lines.map((line, at) => (at < lines.length - 1 && line.includes('\x1b') ? line + plainAgain : line))
}

/** Each row as lines of `title: cell`, with an empty line between two rows. */
function listLines({ heads, rows }: Table, width: number, strong: (text: string) => string): string[] {
  if (rows.length === 0) return wrappedCell(heads.map(strong).join(' · '), width)
  const margin = width > 4 ? '  ' : ''
  return rows.flatMap((row, at) => {
    const lines = row.flatMap((cell, column) => {
      const title = heads[column]!
      if (cell === '') return []
      const words = title === '' ? cell : `${strong(`${title}:`)} ${cell}`
      return wrappedCell(words, width - margin.length).map((line, index) => (index === 0 ? line : margin + line))
    })
    return at === 0 ? lines : ['', ...lines]
  })
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0)
