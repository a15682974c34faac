import type { Mark, Question, Shown } from '../../core/talk/question.ts'
import type { Theme } from '../style/theme.ts'
import type { DiffLine } from '../style/diff-lines.ts'
import type { Colour } from '../style/highlight.ts'
import { wrapTextWithAnsi } from '@earendil-works/pi-tui'
import { diffRows } from '../style/diff-rows.ts'
import { wrapped, wrappedByIndent } from '../style/screen-text.ts'
import { dangerSign, exactText, markWords, readableText, withExactMarks } from '../../questions/question-text.ts'

/** The most characters that are shown. The card says how many more there are, so that nothing is hidden silently. */
const longest = 100_000

/** The lines of a diff on a card, and the function that colours them; undefined if the colours cannot be loaded. */
export type CardDiff = { lines: readonly DiffLine[]; colour: Colour | undefined }

/** The lines of a card's body: the question's text and content; a diff that is not computed yet has no lines. */
export function bodyLines(
  { text, shows = [] }: Question,
  diffs: ReadonlyMap<Shown, CardDiff>,
  width: number,
  theme: Theme,
): string[] {
  const said = wrappedByIndent(cut(readableText(text).trim()), width)
  return [...said, ...shows.flatMap((shown) => shownLines(shown, text, diffs.get(shown), width, theme))]
}

function shownLines(shown: Shown, said: string, diff: CardDiff | undefined, width: number, theme: Theme): string[] {
  switch (shown.type) {
    case 'text':
      return ['', ...wrappedByIndent(cut(readableText(shown.text)), width).map(theme.quiet)]
    case 'diff':
      return ['', ...diffHead(shown, width, theme), ...diffBody(diff, shown.path, width, theme)]
    case 'command': {
      const dangers = markWords(shown, { said, painted: true })
      const found = dangers.flatMap((words) => hangingLines(dangerSign, words, width).map(theme.danger))
      const place = shown.cwd === undefined ? [] : hangingLines('  in ', exactText(shown.cwd), width).map(theme.quiet)
      return ['', ...(found.length > 0 ? [...found, ''] : []), ...commandLines(shown, width, theme), ...place]
    }
  }
}

/** A command with its dangerous parts painted; a row with such a part begins with the sign for danger. */
function commandLines(shown: Extract<Shown, { type: 'command' }>, width: number, theme: Theme): string[] {
  const { text, marks } = withExactMarks(cut(shown.command), shown.marks ?? [])
  let at = 0
  let first = true
  return text.split('\n').flatMap((line) => {
    let from = at
    at += line.length + 1
    return wrapTextWithAnsi(line, Math.max(1, width - 2)).map((row) => {
      // Wrapping drops only blanks between the rows.
      const begins = row === '' ? from : Math.max(from, text.indexOf(row, from))
      from = begins + row.length
      const here = marks.filter((mark) => mark.from < from && mark.to > begins)
      const lead = here.length > 0 ? theme.danger(dangerSign) : theme.code(first ? '$ ' : '  ')
      first = false
      return lead + paintedRow(row, begins, here, theme)
    })
  })
}

function paintedRow(row: string, begins: number, marks: readonly Mark[], theme: Theme): string {
  let painted = ''
  let at = 0
  for (const mark of marks) {
    const from = Math.max(at, mark.from - begins)
    const to = Math.min(row.length, mark.to - begins)
    if (to <= from) continue
    painted += theme.code(row.slice(at, from)) + theme.danger(row.slice(from, to))
    at = to
  }
  return painted + theme.code(row.slice(at))
}

function diffHead({ path, before, danger }: Extract<Shown, { type: 'diff' }>, width: number, theme: Theme): string[] {
  const name = exactText(path).replaceAll('\n', '␊')
  if (danger !== undefined) return hangingLines(dangerSign, `${name}: ${exactText(danger)}`, width).map(theme.danger)
  return wrapTextWithAnsi(theme.strong(name) + theme.quiet(before === undefined ? '  new file' : ''), width)
}

function diffBody(diff: CardDiff | undefined, path: string, width: number, theme: Theme): string[] {
  if (!diff?.lines.length) return [theme.quiet(diff ? '  nothing changes' : '  …')]
  let left = longest
  const lines = diff.lines.filter(({ text }) => left > 0 && ((left -= text.length + 1), true))
  const rows = diffRows(lines, width, { theme, path, colour: diff.colour }).flat()
  const hidden = diff.lines.length - lines.length
  return hidden > 0 ? [...rows, theme.quiet(`… ${hidden} more lines are too long to show`)] : rows
}

function cut(text: string): string {
  if (text.length <= longest) return text
  return `${text.slice(0, longest)}\n… and ${text.length - longest} more characters`
}

/** Wraps a text so that every line begins below the end of `mark`. */
export function hangingLines(mark: string, text: string, width: number): string[] {
  const indent = ' '.repeat(mark.length)
  return wrapped(text, Math.max(1, width - mark.length)).map((line, at) => (at === 0 ? mark : indent) + line)
}

/** The visible page of a body. */
export class BodyPages {
  #from = 0

  /** Turns by a page, within the first and the last page. Returns false if there is no such page. */
  turn(by: 1 | -1, count: number, room: number): boolean {
    const was = this.#from
    this.#from = Math.max(0, Math.min(was + by * room, lastPage(count, room)))
    return this.#from !== was
  }

  /** Turns to the first page. */
  back(): void {
    this.#from = 0
  }

  /** The lines of the page, and its position as text. */
  page(lines: readonly string[], room: number): { lines: string[]; place: string } {
    const from = (this.#from = Math.min(this.#from, lastPage(lines.length, room)))
    const shown = lines.slice(from, from + room)
    const to = from + shown.length
    const which = shown.length === 1 ? `line ${to}` : `lines ${from + 1}–${to}`
    return { lines: shown, place: `${which} of ${lines.length}` }
  }
}

/** The last page is full, so that the room for it never changes. */
const lastPage = (count: number, room: number) => Math.max(0, count - room)
