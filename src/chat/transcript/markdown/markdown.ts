import type { RenderContext } from './render-context.ts'
import type { Fence, PartEnd, Part } from './markdown-parts.ts'
import type { MarkdownTheme } from '@earendil-works/pi-tui'
import { Markdown, hyperlink, stripTerminalSequences } from '@earendil-works/pi-tui'
import { fit, indented, wrapped } from '../../style/screen-text.ts'
import type { Table } from './markdown-tables.ts'
import { split } from './markdown-parts.ts'
import { withTables } from './markdown-tables.ts'
import { tableLines } from './table-lines.ts'

/** How wide rows of a plain table are shown: termaite's own are cut, those of agents are wrapped. */
export type Columns = 'cut' | 'wrapped'

/** Renders a Markdown text that grows; parts that can no longer change are rendered once. */
export class Prose {
  #closed = ''
  #end: PartEnd = { joined: false }
  #lines: string[] = []
  #width = 0
  #last: { part: string; lines: string[] } | undefined

  /** Drops the rendered parts, so that everything is rendered again next time. */
  forget(): void {
    this.#closed = ''
    this.#end = { joined: false }
    this.#lines = []
    this.#last = undefined
  }

  render(text: string, width: number, context: RenderContext, columns: Columns = 'wrapped'): string[] {
    if (width !== this.#width || !text.startsWith(this.#closed)) this.forget()
    this.#width = width
    const parts = split(text.slice(this.#closed.length), this.#end)
    for (const part of parts.slice(0, -1)) {
      this.#lines.push(...this.#piece(part, width, context, columns))
      this.#closed = text.slice(0, this.#closed.length + part.length)
      this.#end = part.end
      this.#last = undefined
    }
    const open = parts.at(-1)
    if (!open) return this.#lines
    if (this.#last?.part !== open.text)
      this.#last = { part: open.text, lines: this.#piece(open, width, context, columns) }
    return [...this.#lines, ...this.#last.lines]
  }

  #piece(part: Part, width: number, context: RenderContext, columns: Columns): string[] {
    const { fence } = part
    const lines = fence ? codeLines(part.text, fence, width, context, columns) : proseLines(part.text, width, context)
    const room = this.#lines.length > 0 && lines.length > 0 && !part.joined
    return room ? ['', ...lines] : lines
  }
}

/** Tables in deeper quotes and lists are left to the library. */
const deepest = 6

function proseLines(text: string, width: number, context: RenderContext, depth = 0, paint = same): string[] {
  const inside = (nested: string, room: number, words = paint) =>
    proseLines(nested, Math.max(1, room), context, depth + 1, words)
  const parts = (depth < deepest ? withTables(text) : [text]).map((part) => {
    if (typeof part === 'string') return textLines(part, width, context).map((line) => (line === '' ? '' : paint(line)))
    if ('quote' in part) {
      const border = width > 4 ? context.theme.quiet('│ ') : ''
      return inside(part.text, border === '' ? width : width - 2, italic).map((line) => border + line)
    }
    if (!('indent' in part)) return tableLines(shownTable(part, context), width, context.theme.strong)
    const margin = Math.min(part.indent, Math.floor(width / 4))
    return indented(inside(part.text, width - margin), ' '.repeat(margin))
  })
  return parts.filter((lines) => lines.length > 0).flatMap((lines, at) => (at === 0 ? lines : ['', ...lines]))
}

function textLines(text: string, width: number, context: RenderContext): string[] {
  const lines = markdownLines(text, width, context) ?? wrapped(text, width)
  const words = (line: string) => line.trim() !== ''
  return lines.slice(lines.findIndex(words), lines.findLastIndex(words) + 1).map((line) => line.trimEnd())
}

/** A part with more marks than this is not emphasized text, and would take the parser seconds. */
const mostMarks = 400

/** Undefined if a text is not meant as Markdown, or is nested too deeply for the library; then it is shown as plain text. */
function markdownLines(text: string, width: number, context: RenderContext): string[] | undefined {
  return tooManyMarks(text) ? undefined : rendered(text, width, context)
}

function tooManyMarks(text: string): boolean {
  return text.length > mostMarks && (text.match(/[*_~`[\]<>]/g)?.length ?? 0) > mostMarks
}

function rendered(text: string, width: number, context: RenderContext): string[] | undefined {
  const options = { preserveOrderedListMarkers: true, renderLatex: false }
  try {
    return new Markdown(text, 0, 0, markdownTheme(context), undefined, options).render(Math.max(1, width))
  } catch {
    return undefined
  }
}

/**
 * A table with its cells as they are shown. The library renders Markdown inside a line only as part of a block: here the
 * cells are the rows of a table with one column.
 */
function shownTable({ heads, aligns, rows }: Table, context: RenderContext): Table {
  const cells = [...new Set([...heads, ...rows.flat()])].filter((cell) => cell !== '' && !tooManyMarks(cell))
  // No character is wider than two columns, so each cell fits on one line.
  const wide = 2 * cells.reduce((most, cell) => Math.max(most, cell.length), 1) + 4
  const lines = rendered(['|-|', '|-|', ...cells.map((cell) => `|${cell}|`)].join('\n'), wide, context) ?? []
  // Three lines are above the first row, and a border is below each row; otherwise the library saw no such table.
  if (lines.length !== 3 + 2 * cells.length) return { heads, aligns, rows }
  const shown = new Map(cells.map((cell, at) => [cell, lines[3 + 2 * at]?.trimEnd().slice(2, -2).trimEnd()]))
  const cellOf = (cell: string) => shown.get(cell) ?? cell
  return { heads: heads.map(cellOf), aligns, rows: rows.map((row) => row.map(cellOf)) }
}

const isRow = (line: string) => /\S {2,}\S/.test(line)

function codeLines(
  code: string,
  { language, begins }: Fence,
  width: number,
  context: RenderContext,
  columns: Columns,
): string[] {
  const { theme, lazy } = context
  const plainText = language === '' || language === 'text'
  const plain = () => code.split('\n')
  const lines = plainText || code.length > 20_000 ? plain() : (lazy.colour()?.(code, language, theme) ?? plain())
  const cuts = plainText && columns === 'cut'
  const body = indented(
    lines.flatMap((line) => (cuts && isRow(line) ? fit(line, width - 2) : wrapped(line, width - 2))),
    '  ',
  )
  return begins && !plainText && !context.unnamed ? [`  ${theme.quiet(language)}`, ...body] : body
}

const same = (text: string) => text
const italic = (text: string) => `\x1b[3m${text}\x1b[23m`
const struck = (text: string) => `\x1b[9m${text}\x1b[29m`
const underlined = (text: string) => `\x1b[4m${text}\x1b[24m`

/** Markdown in the colours of the chat. */
function markdownTheme({ theme, lazy, links }: RenderContext): MarkdownTheme {
  const linked = (text: string) => (links ? withLink(text) : text)
  return {
    heading: theme.strong,
    link: (text) => linked(theme.link(text)),
    linkUrl: (text) => linked(theme.quiet(text)),
    code: theme.code,
    codeBlock: (text) => text,
    codeBlockBorder: theme.quiet,
    quote: italic,
    quoteBorder: theme.quiet,
    hr: theme.quiet,
    listBullet: theme.accent,
    bold: theme.strong,
    italic,
    strikethrough: struck,
    underline: underlined,
    highlightCode: (code, language) => lazy.colour()?.(code, language ?? '', theme) ?? code.split('\n'),
  }
}

/** Makes an address clickable only if it is shown unchanged, so that a link leads where it says. */
function withLink(text: string): string {
  const address = /^ ?\(?((?:https?|file):\/\/[^\s<>"'()]+)\)?$/.exec(stripTerminalSequences(text))?.[1]
  if (address === undefined || !URL.canParse(address)) return text
  return hyperlink(text, new URL(address).href)
}
