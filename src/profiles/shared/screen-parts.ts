import type { Dialog } from '../../core/profile/profile.ts'
import type { Meaning, Option, Question } from '../../core/talk/question.ts'
import type { Key, Screen } from '../../core/screen/terminal.ts'
import { defined } from '../../base/defined.ts'
import { translatedOptions } from '../../core/talk/consent.ts'

/**
 * The options of a CLI's dialog, the option under its pointer, and their rows. `numbered`: the ids are the numbers that the CLI shows.
 */
export type Menu = { options: { id: string; label: string }[]; numbered: boolean; at: number; from: number; to: number }

type Line = { row: number; pointed: boolean; id?: string; text: string; indent: number }

/** A screen without the blanks at the end of its rows. */
export function trimmedScreen(screen: Screen): Screen {
  return { ...screen, rows: screen.rows.map((row) => row.trimEnd()) }
}

/** Removes the frame of a dialog and the scroll bar beside it from rows. */
export function unframed(rows: readonly string[]): string[] {
  return rows.map((row) => row.replace(/^(\s*)[│┃] ?/, '$1').replace(/\s*[│┃█]?\s*$/, ''))
}

/** The lowest menu of a screen; its pointer is one of `pointers`. Without numbers, an option's id is its position, counted from 1. */
export function menuOf(rows: readonly string[], pointers: string): Menu | undefined {
  const option = new RegExp(`^(\\s*)([${pointers}])?(\\s*)(?:(\\d+)\\.? +)?(\\S.*)$`, 'u')
  const line = (row: number): Line | undefined => {
    const [, lead, pointer, gap, id, text] = option.exec(rows[row] ?? '') ?? []
    if (text === undefined) return undefined
    const indent = lead!.length + (pointer ?? '').length + gap!.length
    return { row, pointed: pointer !== undefined, id, text, indent }
  }
  const pointed = rows.findLastIndex((_, row) => line(row)?.pointed)
  const here = pointed < 0 ? undefined : line(pointed)
  if (!here) return undefined
  // Options have the indent of the one under the pointer; a row without a number, or with a deeper indent, continues the option above.
  const own = (one: Line | undefined) => one !== undefined && one.indent >= here.indent
  const isFirst = (row: number) => /^[01]$/.test(line(row)!.id ?? '') && !zero.test(rows[row - 1] ?? '')
  let from = pointed
  let to = pointed
  while (!isFirst(from) && own(line(from - 1))) from--
  while (own(line(to + 1))) to++
  const options: { id: string; label: string; at: number }[] = []
  let numbered = true
  for (let row = from; row <= to; row++) {
    const one = line(row)!
    const last = options.at(-1)
    if (last && (one.indent > here.indent || (here.id !== undefined && one.id === undefined)))
      last.label += ` ${one.text}`
    else {
      options.push({ id: one.id ?? String(options.length + 1), label: one.text, at: row })
      numbered &&= one.id !== undefined
    }
  }
  return {
    options: options.map(({ id, label }) => ({ id, label: label.replace(hint, '') })),
    numbered,
    at: options.findLastIndex(({ at }) => at <= pointed),
    from,
    to,
  }
}

// "  0. Not now": some menus begin with it.
const zero = /^\s*0\. /

// "Yes, proceed (y)", "No, suggest changes (esc)", "(Esc to stop)": the key at the end is not part of the label.
const hint = / \((?:[a-z]|esc|esc to stop|tab|shift\+tab)\)$/i

/** The keys that move the pointer to an option and choose it. */
function walkTo({ options, at }: Menu, id: string): Key[] {
  const steps = options.findIndex((option) => option.id === id) - at
  return [...Array<Key>(Math.abs(steps)).fill(steps < 0 ? 'Up' : 'Down'), 'Enter']
}

type Asked = Pick<Question, 'about' | 'text' | 'shows'> & {
  /**
   * Whether an option's number key chooses it, wherever the pointer is. Two keys would count as two answers, so in a longer menu the
   * pointer is moved instead.
   */
  numbers?: boolean
  /** The keys that decline. */
  decline: Key[]
  /** The permission that an option grants permanently, if any. */
  grants?(label: string): string | undefined
  /** The meaning of an option, if its label alone does not show it. */
  meaning?(option: Option): Meaning | undefined
}

/** A menu as a question, and the keys that answer it. */
export function dialogOf(
  menu: Menu,
  { about, text, shows = [], numbers, decline, grants, meaning = meaningOf }: Asked,
): Dialog {
  const consents = about === 'permission' || about === 'trust' || about === 'login'
  const takesNumbers = numbers === true && menu.options.every(({ id }) => id.length === 1)
  const options = translatedOptions(
    menu.options.map(({ id, label }): Option => {
      return defined({ id, label, grants: grants?.(label), key: menu.numbered ? Number(id) : undefined })
    }),
    consents ? meaning : () => undefined,
  )
  const no = options.find(({ means }) => means === 'no')?.label
  return {
    question: defined({
      about,
      text,
      from: [] as string[],
      shows: shows.length > 0 ? shows : undefined,
      options,
      // The keys that decline a permission without a follow-up question from the CLI, which some ask after their "no".
      unanswered: about === 'permission' ? 'No' : (no ?? 'press Escape in its terminal'),
      enter: menu.at > 0 ? menu.options[menu.at]?.id : undefined,
    }),
    keys(picks) {
      const pick = menu.options.find(({ id }) => id === picks?.[0])?.id
      if (pick === undefined) return decline
      return takesNumbers ? [pick] : walkTo(menu, pick)
    },
  }
}

// "No", "No, suggest changes", "No, quit", "Don't trust", "Deny", "Reject", "Cancel"
const refusal = /^(?:no|don['’]t|do not|deny|reject|cancel|never|quit|exit)\b/i

/** The meaning of an option in a CLI's menu: a yes that grants a permission is a lasting yes. */
function meaningOf({ label, grants }: Option): Meaning {
  if (refusal.test(label)) return 'no'
  return grants === undefined ? 'once' : 'always'
}

/** The paragraph right above a row, as one line. */
export function paragraphAbove(rows: readonly string[], row: number): string {
  let to = row
  while (to > 0 && rows[to - 1]!.trim() === '') to--
  const from = rows.slice(0, to).findLastIndex((one) => one.trim() === '') + 1
  return rows
    .slice(from, to)
    .map((one) => one.trim())
    .join(' ')
}

/** The rows of a composer, the width of its margin, and its text when empty. */
type Composer = { from: number; to: number; margin: number; placeholder?: string }

/** The text in a composer before the cursor; placeholders and suggestions come after the cursor and do not count. */
export function beforeCursor({ rows, cursor }: Screen, { from, to, margin, placeholder }: Composer): string {
  // While a program draws, its cursor may be anywhere.
  const inside = cursor.row >= from && cursor.row < to
  const text = rows
    .slice(from, inside ? cursor.row + 1 : to)
    .map((row, index) => row.slice(margin, inside && from + index === cursor.row ? cursor.col : undefined).trimEnd())
    .join('\n')
    .trim()
  return text === placeholder ? '' : text
}

/** The text in a composer that is drawn between two rules and begins with a prompt sign. */
export function ruledComposer(screen: Screen, prompt: RegExp, rule: RegExp, placeholder?: string): string | undefined {
  const { rows } = screen
  const from = rows.findLastIndex((row, at) => prompt.test(row) && rule.test(rows[at - 1] ?? ''))
  if (from < 0) return undefined
  const below = rows.findIndex((row, at) => at > from && rule.test(row))
  const to = below < 0 ? rows.length : below
  return beforeCursor(screen, { from, to, margin: 2, placeholder })
}
