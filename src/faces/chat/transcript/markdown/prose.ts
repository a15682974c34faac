import type { Look } from '../look.ts'
import type { Fence, Left, Part } from './split.ts'
import { Markdown } from '@earendil-works/pi-tui'
import { fit, indented, wrapped } from '../text.ts'
import { split } from './split.ts'
import { markdownTheme } from './theme.ts'

/** What becomes of the rows of a laid out table that are too wide: ours are cut, what an agent lays out is kept whole. */
export type Columns = 'cut' | 'wrapped'

/** One Markdown text as it grows: what can no longer change is rendered once. */
export class Prose {
  #closed = ''
  #left: Left = { joined: false }
  #lines: string[] = []
  #width = 0
  #last: { part: string; lines: string[] } | undefined

  /** Renders from its beginning next time: the colours have changed. */
  forget(): void {
    this.#width = 0
  }

  render(text: string, width: number, look: Look, columns: Columns = 'wrapped'): string[] {
    if (width !== this.#width || !text.startsWith(this.#closed)) {
      this.#closed = ''
      this.#left = { joined: false }
      this.#lines = []
      this.#last = undefined
      this.#width = width
    }
    const parts = split(text.slice(this.#closed.length), this.#left)
    for (const part of parts.slice(0, -1)) {
      this.#lines.push(...this.#piece(part, width, look, columns))
      this.#closed = text.slice(0, this.#closed.length + part.length)
      this.#left = part.left
      this.#last = undefined
    }
    const open = parts.at(-1)
    if (!open) return this.#lines
    if (this.#last?.part !== open.text) this.#last = { part: open.text, lines: this.#piece(open, width, look, columns) }
    return [...this.#lines, ...this.#last.lines]
  }

  #piece(part: Part, width: number, look: Look, columns: Columns): string[] {
    const { fence } = part
    const lines = fence ? codeLines(part.text, fence, width, look, columns) : proseLines(part.text, width, look)
    const room = this.#lines.length > 0 && lines.length > 0 && !part.joined
    return room ? ['', ...lines] : lines
  }
}

function proseLines(text: string, width: number, look: Look): string[] {
  const lines = markdownLines(text, width, look) ?? wrapped(text, width)
  const words = (line: string) => line.trim() !== ''
  return lines.slice(lines.findIndex(words), lines.findLastIndex(words) + 1).map((line) => line.trimEnd())
}

/** More marks than that in one part are no emphasis, and take the parser seconds. */
const mostMarks = 400

/** Undefined for what is no Markdown of a person, or nested deeper than the library can go: it is text all the same. */
function markdownLines(text: string, width: number, look: Look): string[] | undefined {
  if (text.length > mostMarks && (text.match(/[*_~`[\]<>]/g)?.length ?? 0) > mostMarks) return undefined
  const options = { preserveOrderedListMarkers: true, renderLatex: false }
  try {
    return new Markdown(text, 0, 0, markdownTheme(look), undefined, options).render(Math.max(1, width))
  } catch {
    return undefined
  }
}

const isRow = (line: string) => /\S {2,}\S/.test(line)

function codeLines(code: string, { language, begins }: Fence, width: number, look: Look, columns: Columns): string[] {
  const { theme, late } = look
  const plainText = language === '' || language === 'text'
  const plain = () => code.split('\n')
  const lines = plainText || code.length > 20_000 ? plain() : (late.colour()?.(code, language, theme) ?? plain())
  const cuts = plainText && columns === 'cut'
  const body = indented(
    lines.flatMap((line) => (cuts && isRow(line) ? fit(line, width - 2) : wrapped(line, width - 2))),
    '  ',
  )
  return begins && !plainText ? [`  ${theme.quiet(language)}`, ...body] : body
}
