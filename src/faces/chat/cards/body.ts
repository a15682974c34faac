import type { Question, Shown } from '../../../core/talk/question.ts'
import type { Theme } from '../theme/theme.ts'
import type { DiffLine } from './diff.ts'
import { wrapTextWithAnsi } from '@earendil-works/pi-tui'
import { exact, words } from './words.ts'

/** A part of what a card shows: its lines, and how many of them are shown at first. */
export type Section = { lines: string[]; most: number }

/** Beyond this nobody reads: it is said how much more there is, so that nothing is hidden in silence. */
const longest = 100_000

/** The question's words and what it shows, laid out; a diff that is not compared yet has no lines. */
export function sections(
  { text, shows = [] }: Question,
  diffs: ReadonlyMap<Shown, readonly DiffLine[]>,
  width: number,
  theme: Theme,
): Section[] {
  const said = { lines: wrapped(cut(words(text).trim()), width), most: 8 }
  return [said, ...shows.map((shown) => shownLines(shown, diffs.get(shown), width, theme))]
}

function shownLines(shown: Shown, diff: readonly DiffLine[] | undefined, width: number, theme: Theme): Section {
  if (shown.type === 'text')
    return { lines: ['', ...wrapped(cut(words(shown.text)), width).map(theme.quiet)], most: 13 }
  if (shown.type === 'diff') {
    const head =
      theme.strong(exact(shown.path).replaceAll('\n', '␊')) +
      theme.quiet(shown.before === undefined ? '  new file' : '')
    const none = diff ? '  nothing changes' : '  …'
    const lines = diff?.length ? diffed(diff, width, theme) : [theme.quiet(none)]
    return { lines: ['', ...wrapTextWithAnsi(head, width), ...lines], most: 30 }
  }
  const command = hanging('$ ', cut(exact(shown.command)), width).map((line) => theme.code(line))
  const place = shown.cwd === undefined ? [] : hanging('  in ', exact(shown.cwd), width).map(theme.quiet)
  return { lines: ['', ...command, ...place], most: 13 }
}

function diffed(diff: readonly DiffLine[], width: number, theme: Theme): string[] {
  const look = { added: theme.added, removed: theme.removed, same: theme.quiet, skip: theme.quiet }
  const mark = { added: '+ ', removed: '- ', same: '  ', skip: '  ' }
  let left = longest
  return diff.flatMap(({ type, text }) => {
    if (left <= 0) return []
    left -= text.length + 1
    const lines = hanging(mark[type], exact(text), width).map(look[type])
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

/** Every line of it begins below the end of `mark`. */
export function hanging(mark: string, text: string, width: number): string[] {
  const indent = ' '.repeat(mark.length)
  return wrapped(text, Math.max(1, width - mark.length)).map((line, at) => (at === 0 ? mark : indent) + line)
}
