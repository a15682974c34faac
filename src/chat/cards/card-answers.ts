import type { Option, Question } from '../../core/talk/question.ts'
import type { Paint, Theme } from '../style/theme.ts'
import { fitToWidth, TextField } from '../style/widgets.ts'
import { stripTerminalSequences, truncateToWidth, visibleWidth } from '@earendil-works/pi-tui'
import { allowanceWords, enterOf, optionKeys } from '../../core/talk/consent.ts'
import { hangingLines } from './card-body.ts'
import { readableText } from '../../questions/question-text.ts'

/** The most options that are visible at once. */
const most = 9

/** The answers of a card: options to choose from, marks if several may be chosen, and a line for the person's own words. */
export class CardAnswers {
  readonly line: TextField | undefined
  #question: Question
  /** The options in the order of their rows, which the person may change. */
  #options: Option[]
  #at: number
  #keys: readonly number[]
  #marked: Set<string>
  /** The options of each row that was drawn last, with the column before which each ends. */
  #drawn: { at: number; to: number }[][] = []

  constructor(question: Question) {
    this.#question = question
    const { free, secret = false, options, marked } = question
    const first = enterOf(question)
    this.#options = [...options]
    this.#marked = new Set(marked)
    this.#keys = optionKeys(options)
    this.#at = first ? options.indexOf(first) : 0
    const placeholder = secret ? 'what you type is not shown' : 'or in your own words'
    this.line = free ? new TextField({ placeholder, secret }) : undefined
  }

  get count(): number {
    return this.#options.length + (this.line ? 1 : 0)
  }

  /** Whether keys are typed into the line. */
  get writing(): boolean {
    return this.line !== undefined && this.#at === this.#options.length
  }

  move(by: number): void {
    if (this.count > 0) this.#at = (this.#at + by + this.count) % this.count
  }

  /** Moves to an answer. Returns false if no answer has that index. */
  go(at: number): boolean {
    if (at < 0 || at >= this.count) return false
    this.#at = at
    return true
  }

  /** Moves to the option with a number key. Returns false if no option has that key. */
  goKey(key: number): boolean {
    const at = this.#keys.indexOf(key)
    return at >= 0 && this.go(at)
  }

  /** The number keys that pick an option, as text. */
  get keyWords(): string {
    const keys = this.#keys.filter((key) => key <= 9)
    const run = keys.every((key, index) => key === index + 1)
    return run && keys.length > 2 ? `1–${keys.length}` : keys.join(', ')
  }

  /** The permission that the chosen option gives from then on. */
  get grants(): string | undefined {
    return this.#options[this.#at]?.grants
  }

  goWrite(): void {
    this.#at = this.#options.length
  }

  mark(): void {
    const id = this.#options[this.#at]?.id
    if (id !== undefined && !this.#marked.delete(id)) this.#marked.add(id)
  }

  /** Moves the chosen option up or down in the list, within its bounds. The picks are returned in the order of the rows. */
  shift(by: 1 | -1): void {
    const to = this.#at + by
    const [option, other] = [this.#options[this.#at], this.#options[to]]
    if (!option || !other) return
    this.#options[this.#at] = other
    this.#options[to] = option
    this.#keys = optionKeys(this.#options)
    this.#at = to
  }

  /** The answer that Enter would give; undefined if there is no answer yet. */
  picks(): string[] | undefined {
    const { multiple } = this.#question
    const own = this.writing || multiple ? [this.line?.text.trim() ?? ''].filter((text) => text !== '') : []
    const here = this.writing ? [] : [this.#options[this.#at]?.id].filter((id) => id !== undefined)
    const marked = this.#options.map(({ id }) => id).filter((id) => this.#marked.has(id))
    const picks = multiple && marked.length + own.length > 0 ? [...marked, ...own] : [...here, ...own]
    return picks.length > 0 ? picks : undefined
  }

  /** The option that was drawn at that place. */
  drawnAt(row: number, column: number): number {
    return this.#drawn[row]?.find(({ to }) => column < to)?.at ?? -1
  }

  keyAt(at: number): number {
    return this.#keys[at]!
  }

  /** Renders at most `room` rows. The option that Enter would pick stays visible, with the permission it grants. */
  render(width: number, theme: Theme, room = Infinity): string[] {
    const count = this.#options.length
    const from = Math.max(0, Math.min(this.#at - most + 1, count - most))
    const rows = this.#options
      .map((_, at) => at)
      .slice(from, from + most)
      .flatMap((at) => this.#option(at, width, theme).map((text) => ({ at, text })))
    if (from > 0) rows.unshift({ at: -1, text: theme.quiet(`  … ${from} more above`) })
    if (from + most < count) rows.push({ at: -1, text: theme.quiet(`  … ${count - from - most} more below`) })
    if (this.line) rows.push({ at: count, text: this.#own(width, theme) })
    const chosen = rows.findIndex(({ at }) => at === this.#at)
    const first = Math.max(0, Math.min(chosen, rows.length - room))
    const shown = rows.slice(first, first + room)
    this.#drawn = shown.map(({ at }) => [{ at, to: Infinity }])
    return shown.map(({ text }) => text)
  }

  /** Renders all options one after another, for a card whose body needs the space. Only the chosen one shows the permission it grants. */
  renderShort(width: number, theme: Theme): string[] {
    const words = this.#options.map((option, at) => {
      const box = this.#question.multiple ? (this.#marked.has(option.id) ? '[x] ' : '[ ] ') : ''
      const lead = ` ${this.#keys[at]} ${box}`
      const name = `${lead}${wordsOf(option, width - lead.length - 2)} `
      return at === this.#at ? theme.chosen(`›${name}`) : dangerPaint(option, theme)(` ${name}`)
    })
    const rows: string[] = []
    this.#drawn = []
    for (const [at, word] of words.entries()) {
      const last = rows.at(-1)
      const joins = last !== undefined && visibleWidth(last) + visibleWidth(word) <= width
      if (joins) rows[rows.length - 1] = last + word
      else rows.push(truncateToWidth(word, width, '…'))
      if (!joins) this.#drawn.push([])
      this.#drawn.at(-1)!.push({ at, to: visibleWidth(rows.at(-1)!) })
    }
    const covers = coverLines(' covers: ', this.#options[this.#at], width, theme)
    for (const _ of covers) this.#drawn.push([])
    if (this.line) this.#drawn.push([{ at: words.length, to: Infinity }])
    return [...rows, ...covers, ...(this.line ? [this.#own(width, theme)] : [])]
  }

  #option(at: number, width: number, theme: Theme): string[] {
    const { id } = this.#options[at]!
    const chosen = at === this.#at
    const box = this.#question.multiple ? (this.#marked.has(id) ? '[x] ' : '[ ] ') : ''
    const key = this.#keys[at]!
    const number = key <= 9 ? `${key} ` : '  '
    const lines = hangingLines(`${chosen ? '› ' : '  '}${number}${box}`, wordsOf(this.#options[at]!), width)
    const covers = coverLines('    covers: ', this.#options[at], width, theme)
    const paint = dangerPaint(this.#options[at]!, theme)
    return [...lines.map((line) => (chosen ? theme.chosen(fitToWidth(line, width)) : paint(line))), ...covers]
  }

  #own(width: number, theme: Theme): string {
    const line = this.line!
    const mark = this.writing ? '› ' : '  '
    const shown = line.render(Math.max(1, width - 4))
    return this.writing ? `${mark}✎ ${shown}` : `${mark}${theme.quiet(`✎ ${shown.replace(/\x1b\[2?7m/g, '')}`)}`
  }
}

/** The most rows that describe the permission of one option. */
const mostCovers = 4

/** The label of an option, cut to the available width, followed by the permission that an option of another program gives. */
function wordsOf(option: Option, room = Infinity): string {
  const allows = allowanceWords(option)
  const end = allows === undefined ? '' : ` · ${allows}`
  const label = oneLine(option.label)
  const most = Math.max(1, room - end.length)
  // The colours are removed from a label that is cut, because the cut would end the colour of the words after it.
  return (visibleWidth(label) > most ? stripTerminalSequences(truncateToWidth(label, most, '…')) : label) + end
}

/** The style of an option by its danger, which no number says: an answer that allows something for good is painted as dangerous, and a refusal is dim. */
function dangerPaint({ means }: Option, theme: Theme): Paint {
  if (means === undefined || means === 'once') return (text) => text
  return means === 'always' ? theme.danger : theme.quiet
}

/** The lines that say what an option allows from then on. */
function coverLines(mark: string, option: Option | undefined, width: number, theme: Theme): string[] {
  const { grants } = option ?? {}
  if (grants === undefined) return []
  const lines = hangingLines(mark, oneLine(grants), width)
  const shown = lines.length <= mostCovers ? lines : [...lines.slice(0, mostCovers - 1), `${' '.repeat(mark.length)}…`]
  return shown.map(theme.danger)
}

const oneLine = (text: string) => readableText(text).replace(/\s+/g, ' ').trim()
