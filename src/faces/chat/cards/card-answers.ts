import type { Question } from '../../../core/talk/question.ts'
import type { Theme } from '../theme.ts'
import { fitToWidth, TextField } from '../widgets.ts'
import { hangingLines } from './card-body.ts'
import { readableText } from '../../question-text.ts'

/** Options in sight at once. */
const most = 9

/** The answers of a card: options to choose from, marks where several may be chosen, and a line for the person's own words. */
export class CardAnswers {
  readonly line: TextField | undefined
  #question: Question
  #at = 0
  #marked = new Set<string>()
  /** The option of each row that was drawn last. */
  #drawn: number[] = []

  constructor(question: Question) {
    this.#question = question
    const { free, secret = false } = question
    const placeholder = secret ? 'what you type is not shown' : 'or in your own words'
    this.line = free ? new TextField({ placeholder, secret }) : undefined
  }

  get count(): number {
    return this.#question.options.length + (this.line ? 1 : 0)
  }

  /** Whether keys are typed into the line. */
  get writing(): boolean {
    return this.line !== undefined && this.#at === this.#question.options.length
  }

  move(by: number): void {
    if (this.count > 0) this.#at = (this.#at + by + this.count) % this.count
  }

  /** Moves to an answer; false when there is none at that index. */
  go(at: number): boolean {
    if (at < 0 || at >= this.count) return false
    this.#at = at
    return true
  }

  goWrite(): void {
    this.#at = this.#question.options.length
  }

  mark(): void {
    const id = this.#question.options[this.#at]?.id
    if (id !== undefined && !this.#marked.delete(id)) this.#marked.add(id)
  }

  /** The answer that Enter would give; undefined where there is none yet. */
  picks(): string[] | undefined {
    const { multiple, options } = this.#question
    const own = this.writing || multiple ? [this.line?.text.trim() ?? ''].filter((text) => text !== '') : []
    const here = this.writing ? [] : [options[this.#at]?.id].filter((id) => id !== undefined)
    const marked = options.map(({ id }) => id).filter((id) => this.#marked.has(id))
    const picks = multiple && marked.length + own.length > 0 ? [...marked, ...own] : [...here, ...own]
    return picks.length > 0 ? picks : undefined
  }

  /** The option that was drawn in that row. */
  drawnAt(row: number): number {
    return this.#drawn[row] ?? -1
  }

  /** Renders at most `room` rows; the option that Enter would pick stays in sight, with what it covers. */
  render(width: number, theme: Theme, room = Infinity): string[] {
    const count = this.#question.options.length
    const from = Math.max(0, Math.min(this.#at - most + 1, count - most))
    const rows = this.#question.options
      .map((_, at) => at)
      .slice(from, from + most)
      .flatMap((at) => this.#option(at, width, theme).map((text) => ({ at, text })))
    if (from > 0) rows.unshift({ at: -1, text: theme.quiet(`  … ${from} more above`) })
    if (from + most < count) rows.push({ at: -1, text: theme.quiet(`  … ${count - from - most} more below`) })
    if (this.line) rows.push({ at: count, text: this.#own(width, theme) })
    const chosen = rows.findIndex(({ at }) => at === this.#at)
    const first = Math.max(0, Math.min(chosen, rows.length - room))
    const shown = rows.slice(first, first + room)
    this.#drawn = shown.map(({ at }) => at)
    return shown.map(({ text }) => text)
  }

  #option(at: number, width: number, theme: Theme): string[] {
    const { id, label, grants } = this.#question.options[at]!
    const chosen = at === this.#at
    const box = this.#question.multiple ? (this.#marked.has(id) ? '[x] ' : '[ ] ') : ''
    const number = at < 9 ? `${at + 1} ` : '  '
    const lines = hangingLines(`${chosen ? '› ' : '  '}${number}${box}`, oneLine(label), width)
    const covers = grants === undefined ? [] : hangingLines('    covers: ', oneLine(grants), width).slice(0, 4)
    return [
      ...lines.map((line) => (chosen ? theme.chosen(fitToWidth(line, width)) : line)),
      ...covers.map((line) => theme.quiet(line)),
    ]
  }

  #own(width: number, theme: Theme): string {
    const line = this.line!
    const mark = this.writing ? '› ' : '  '
    const shown = line.render(Math.max(1, width - 4))
    return this.writing ? `${mark}✎ ${shown}` : `${mark}${theme.quiet(`✎ ${shown.replace(/\x1b\[2?7m/g, '')}`)}`
  }
}

const oneLine = (text: string) => readableText(text).replace(/\s+/g, ' ').trim()
