import type { Question, Shown } from '../../../core/talk/question.ts'
import type { Theme, Paint } from '../theme.ts'
import type { DiffLine } from '../diff-lines.ts'
import { wrapTextWithAnsi } from '@earendil-works/pi-tui'
import { exactText, readableText } from '../../question-text.ts'

/** A part of a card's body: its lines, and how many of them are shown at first. */
export type BodySection = { lines: string[]; most: number }

/** Characters that are shown; the card says how many more there are, so that nothing is hidden silently. */
const longest = 100_000

/** Lays out the question's words and what it shows; a diff that is not computed yet has no lines. */
export function bodySections(
  { text, shows = [] }: Question,
  diffs: ReadonlyMap<Shown, readonly DiffLine[]>,
  width: number,
  theme: Theme,
): BodySection[] {
  const said = { lines: wrapped(cut(readableText(text).trim()), width), most: 8 }
  return [said, ...shows.map((shown) => shownLines(shown, diffs.get(shown), width, theme))]
}

function shownLines(shown: Shown, diff: readonly DiffLine[] | undefined, width: number, theme: Theme): BodySection {
  if (shown.type === 'text')
    return { lines: ['', ...wrapped(cut(readableText(shown.text)), width).map(theme.quiet)], most: 13 }
  if (shown.type === 'diff') {
    const head =
      theme.strong(exactText(shown.path).replaceAll('\n', '␊')) +
      theme.quiet(shown.before === undefined ? '  new file' : '')
    const none = diff ? '  nothing changes' : '  …'
    const lines = diff?.length ? diffed(diff, width, theme) : [theme.quiet(none)]
    return { lines: ['', ...wrapTextWithAnsi(head, width), ...lines], most: 30 }
  }
  const command = hangingLines('$ ', cut(exactText(shown.command)), width).map((line) => theme.code(line))
  const place = shown.cwd === undefined ? [] : hangingLines('  in ', exactText(shown.cwd), width).map(theme.quiet)
  return { lines: ['', ...command, ...place], most: 13 }
}

function diffed(diff: readonly DiffLine[], width: number, theme: Theme): string[] {
  const look = { added: theme.added, removed: theme.removed, same: theme.quiet, skip: theme.quiet }
  const mark = { added: '+ ', removed: '- ', same: '  ', skip: '  ' }
  let left = longest
  return diff.flatMap(({ type, text }) => {
    if (left <= 0) return []
    left -= text.length + 1
    const lines = hangingLines(mark[type], exactText(text), width).map(look[type])
    return left > 0 ? lines : [...lines, theme.quiet('… the rest is too long to show')]
  })
}

function cut(text: string): string {
  if (text.length <= longest) return text
  return `${text.slice(0, longest)}\n… and ${text.length - longest} more characters`
}

function wrapped(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => wrapTextWithAnsi(line, width))
}

/** Wraps a text so that every line begins below the end of `mark`. */
export function hangingLines(mark: string, text: string, width: number): string[] {
  const indent = ' '.repeat(mark.length)
  return wrapped(text, Math.max(1, width - mark.length)).map((line, at) => (at === 0 ? mark : indent) + line)
}

/** A section is not cut to fewer lines, because they would say nothing. */
const leastLines = 3

/** Shows the body of a card cut to the room there is, and page by page once the person opens it. */
export class BodyPages {
  #paint: Paint
  #page: number | undefined

  /** `paint` is for the hints about hidden lines. */
  constructor(paint: Paint) {
    this.#paint = paint
  }

  /** Opens the first page, turns to the next, and closes after the last. */
  turn(sections: readonly BodySection[], room: number): void {
    const pages = Math.ceil(whole(sections).length / room)
    const next = this.#page === undefined ? 0 : this.#page + 1
    const hides = shownAtFirst(sections, room).some((most, at) => hiddenLines(sections[at]!.lines, most) > 0)
    this.#page = hides && next < pages ? next : undefined
  }

  lines(sections: readonly BodySection[], room: number): string[] {
    if (this.#page === undefined) {
      const most = shownAtFirst(sections, room)
      return sections.flatMap(({ lines }, at) => this.#cut(lines, most[at]!))
    }
    const all = whole(sections)
    const from = Math.min(this.#page * room, Math.max(0, all.length - 1))
    const shown = all.slice(from, from + room)
    const place = shown.length < all.length ? `lines ${from + 1}–${from + shown.length} of ${all.length}, ` : ''
    const last = from + shown.length >= all.length
    return [...shown, this.#paint(`${place}Ctrl+O ${last ? 'shows less' : 'shows more'}`)]
  }

  #cut(lines: string[], most: number): string[] {
    const more = hiddenLines(lines, most)
    if (more === 0) return lines
    return [...lines.slice(0, most), this.#paint(`… ${more} more ${more === 1 ? 'line' : 'lines'}, Ctrl+O shows all`)]
  }
}

/** How many lines are hidden; a single one is shown instead of the hint that would take its row. */
const hiddenLines = (lines: readonly string[], most: number) => (lines.length - most > 1 ? lines.length - most : 0)

const whole = (sections: readonly BodySection[]) => sections.flatMap(({ lines }) => lines)

/** How many lines of each section are shown at first: the longest is cut until all of them fit. */
function shownAtFirst(sections: readonly BodySection[], room: number): number[] {
  const most = sections.map((section) => Math.min(section.lines.length, section.most))
  // A section that is cut takes one line more for its hint.
  const taken = () => most.reduce((sum, count, at) => sum + count + Number(count < sections[at]!.lines.length), 0)
  while (taken() > room) {
    const longest = most.indexOf(Math.max(...most))
    if (most[longest]! <= leastLines) break
    most[longest]!--
  }
  return most
}
