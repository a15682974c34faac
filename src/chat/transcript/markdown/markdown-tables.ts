export type Align = 'left' | 'right' | 'center'

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
type Nested = { quote: true; text: string } | { indent: number; text: string }

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

/** The index of the first line from `from` on at which a part has finished. */
function endOf(lines: readonly string[], from: number, isOver: (line: string) => boolean): number {
  const over = lines.findIndex((line, at) => at >= from && isOver(line))
  return over < 0 ? lines.length : over
}

/** Tracks the list items around each line. */
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
export function cellsOf(row: string): string[] {
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
