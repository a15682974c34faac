import { visibleWidth, wrapTextWithAnsi } from '@earendil-works/pi-tui'

type Align = 'left' | 'right' | 'center'

/** A Markdown table; its cells are still Markdown. */
export type Table = { heads: string[]; aligns: Align[]; rows: string[][] }

const delimiters = /^ {0,3}(?:\| *)?:?-+:? *(?:\| *:?-+:? *)*(?:\| *)?$/
const otherBlock =
  /^ {0,3}(?:>|#{1,6}(?:\s|$)|[-*+]\s|\d{1,9}[.)]\s|`{3}|~{3}|(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,})$)|^ {4}/

/** Whether two lines are the head of a table: the titles of its columns, and the row that aligns them. */
export function isTableHead(titles: string, aligns: string): boolean {
  if (!delimiters.test(aligns) || !/[:|]/.test(aligns)) return false
  // A table inside a list is part of its item.
  if (/^\s/.test(titles) || !isTableRow(titles)) return false
  return cellsOf(titles).length === cellsOf(aligns).length
}

/** Whether a line below the head of a table belongs to the table. */
export function isTableRow(line: string): boolean {
  return line.trim() !== '' && !otherBlock.test(line)
}

/** The part of a quote or of a list item that holds a table, without its margin; `indent`: the columns of a list item's margin. */
export type Nested = { quote: true; text: string } | { indent: number; text: string }

/** The tables of a text, the quotes and list items with a table in them, and the texts between them. */
export function withTables(text: string): (string | Table | Nested)[] {
  const lines = text.split('\n')
  const parts: (string | Table | Nested)[] = []
  const items = new OpenItems()
  let from = 0
  for (let at = 0; at < lines.length; at++) {
    const found = partAt(lines, at, items.indentAt(lines[at]!))
    if (!found) continue
    if (at > from) parts.push(lines.slice(from, at).join('\n'))
    parts.push(found.part)
    from = found.to
    at = from - 1
  }
  return from < lines.length ? [...parts, lines.slice(from).join('\n')] : parts
}

const quoteMark = /^ {0,3}> ?/
const itemMark = /^( *)([-*+]|\d{1,9}[.)])( {1,4})(?=\S)/

/** The table that begins at a line, or the quote or list item around it, and the line behind it. */
function partAt(lines: readonly string[], at: number, indent: number) {
  if (indent > 0) {
    const outside = (line: string) => line.trim() !== '' && !line.startsWith(' '.repeat(indent))
    const dedented = lines.slice(at, at + 2).map((line) => line.slice(indent))
    if (lines.slice(at, at + 2).some(outside) || !beginsTable(dedented)) return undefined
    const to = endOf(lines, at, outside)
    return { part: { indent, text: textOf(lines.slice(at, to), (line) => line.slice(indent)) }, to }
  }
  if (quoteMark.test(lines[at]!)) {
    const to = endOf(lines, at, (line) => !quoteMark.test(line))
    const inside = lines.slice(at, to).map((line) => line.replace(quoteMark, ''))
    const holds = withTables(inside.join('\n')).some((part) => typeof part !== 'string')
    return holds ? { part: { quote: true as const, text: inside.join('\n') }, to } : undefined
  }
  if (!beginsTable(lines.slice(at, at + 2))) return undefined
  const to = endOf(lines, at + 2, (line) => !isTableRow(line))
  return { part: tableOf(lines[at]!, lines[at + 1]!, lines.slice(at + 2, to)), to }
}

const beginsTable = ([titles, aligns]: readonly string[]) =>
  titles !== undefined && aligns !== undefined && isTableHead(titles, aligns)

const textOf = (lines: readonly string[], change: (line: string) => string) => lines.map(change).join('\n').trimEnd()

/** The index of the first line from `from` on at which a part is over. */
function endOf(lines: readonly string[], from: number, isOver: (line: string) => boolean): number {
  const over = lines.findIndex((line, at) => at >= from && isOver(line))
  return over < 0 ? lines.length : over
}

/** Knows in which list items a line stands. */
class OpenItems {
  /** The columns at which the text of the open items begins, the outermost first. */
  #columns: number[] = []

  /** The column at which the text of the innermost item around a line begins; 0 outside of lists, and for the first line of an item. */
  indentAt(line: string): number {
    if (line.trim() === '') return 0
    const indent = line.length - line.trimStart().length
    this.#columns = this.#columns.filter((column) => column <= indent)
    const [mark] = itemMark.exec(line) ?? []
    if (mark === undefined) return this.#columns.at(-1) ?? 0
    this.#columns.push(mark.length)
    return 0
  }
}

function tableOf(titles: string, aligns: string, rows: readonly string[]): Table {
  const heads = cellsOf(titles)
  return {
    heads,
    aligns: cellsOf(aligns).map((cell) => (!cell.endsWith(':') ? 'left' : cell.startsWith(':') ? 'center' : 'right')),
    rows: rows.map((row) => {
      const cells = cellsOf(row)
      return heads.map((_, column) => cells[column] ?? '')
    }),
  }
}

/** The cells of a row; a pipe after a backslash belongs to its cell. */
function cellsOf(row: string): string[] {
  const inner = row.trim().replace(/^\|/, '')
  const cells = inner.match(/(?:\\[^]|[^\\|]|\\$)+|\|/g) ?? []
  const texts: string[] = ['']
  for (const cell of cells) {
    if (cell === '|') texts.push('')
    else texts[texts.length - 1] += cell
  }
  if (texts.length > 1 && texts.at(-1)!.trim() === '') texts.pop()
  return texts.map((text) => text.trim())
}

/** A word up to this long is not broken in a column; a table whose columns would be narrower is shown as a list. */
const longestWord = 20
/** A column of sentences is at least so wide, for the same reason. */
const readable = 10

/** Renders a table in columns where they can be read at that width, else each row as a list of its cells. */
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

/** Ends the styles of a text that goes on in the next line, so that the border has none of them. */
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
