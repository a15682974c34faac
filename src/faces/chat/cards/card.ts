import type { Component, Focusable, TuiMouseEvent, TuiMouseEventResult } from '@earendil-works/pi-tui'
import type { Clock } from '../../../base/clock.ts'
import type { Question, Shown } from '../../../core/talk/question.ts'
import type { Theme } from '../theme.ts'
import type { TextField } from '../widgets.ts'
import type { BodySection } from './card-body.ts'
import type { DiffLine } from '../diff-lines.ts'
import { decodeKittyPrintable, matchesKey, wrapTextWithAnsi } from '@earendil-works/pi-tui'
import { boxSides, boxed } from '../widgets.ts'
import { PasteReader } from '../input/paste.ts'
import { CardAnswers } from './card-answers.ts'
import { bodySections, BodyPages } from './card-body.ts'
import { diffLines } from '../diff-lines.ts'
import { leaving, cardPaint, cardTitle } from './card-kinds.ts'
import { readableText } from '../../question-text.ts'

export type CardParts = {
  theme: Theme
  question: Question
  /** Who asks. */
  by?: string
  clock: Clock
  /** How many rows it may take; without it, what fits on a small screen above the input. */
  rows?(): number
  /** Something on it looks different now. */
  changed(): void
  answer(picks?: string[]): void
}

/** Whoever was typing when it opened goes on typing this long before a key is meant for it. */
const guardMs = 400
/** Keys that nobody presses who has not seen it. */
const seen = ['up', 'down', 'tab', 'shift+tab', 'ctrl+o'] as const
/** Rows of a card that are always there: its frame, the blank lines, and one that says how to see more. */
const chrome = 5
const smallest = 19
const boxEdges = 2
/** Fewer lines of what is asked say nothing, unless there is no room for more. */
const leastBody = 3

/** How many rows the answers have in a card that is too small for all of it. */
const tightAnswers = (answers: number, rows: number) =>
  Math.min(answers, Math.max(1, Math.ceil((rows - boxEdges) * 0.6)))

/** One question: who asks, what it is about, and what may be answered. */
export class Card implements Component, Focusable {
  #parts: CardParts
  #answers: CardAnswers
  #pastes: PasteReader
  #pages = new BodyPages((text) => this.#parts.theme.quiet(text))
  #diffs = new Map<Shown, readonly DiffLine[]>()
  #body: { width: number; sections: BodySection[] } | undefined
  #open = new AbortController()
  #focused = false
  #quietSince: number
  #awake = false
  #straying = false
  #width = 80
  #answersAt = 0

  constructor(parts: CardParts) {
    this.#parts = parts
    this.#answers = new CardAnswers(parts.question)
    this.#pastes = new PasteReader(parts.clock)
    this.#quietSince = parts.clock.now()
    void this.#countDown()
    for (const shown of parts.question.shows ?? []) if (shown.type === 'diff') void this.#compare(shown)
  }

  get focused(): boolean {
    return this.#focused
  }

  set focused(focused: boolean) {
    this.#focused = focused
    this.#attend()
  }

  close(): void {
    this.#open.abort()
  }

  invalidate(): void {
    this.#body = undefined
  }

  /** Whether a key is meant for it: what is typed on right after it opened, or was answered, is the input's. */
  wants(data: string): boolean {
    if (this.#open.signal.aborted) return false
    const now = this.#parts.clock.now()
    if (seen.some((key) => matchesKey(data, key))) this.#awake = true
    if (now - this.#quietSince >= guardMs) this.#awake = true
    if (!this.#awake) this.#quietSince = now
    return this.#awake && !this.#strays(data)
  }

  /** Letters that mean nothing here are the input's: whoever types them has not read it, and no Enter of theirs answers it. */
  #strays(data: string): boolean {
    if (matchesKey(data, 'escape')) return false
    const was = this.#straying
    if (seen.some((key) => matchesKey(data, key))) this.#straying = false
    else this.#straying ||= this.#isStray(decodeKittyPrintable(data) ?? data)
    if (this.#straying !== was) this.#parts.changed()
    return this.#straying
  }

  #isStray(typed: string): boolean {
    return this.#answers.line === undefined && /^[^\x00-\x20\x7f-\x9f\d]/.test(typed)
  }

  handleInput(data: string): void {
    for (const { type, text } of this.#pastes.read(data)) {
      if (!this.wants(text)) return
      if (type === 'key') this.#key(text)
      else this.#write((line) => line.insert(text))
      this.#attend()
    }
  }

  #write(work: (line: TextField) => void): void {
    if (!this.#answers.line) return
    this.#answers.goWrite()
    work(this.#answers.line)
  }

  #key(data: string): void {
    const { question } = this.#parts
    if (matchesKey(data, 'escape')) return this.#answer(leaving(question).picks)
    if (matchesKey(data, 'up') || matchesKey(data, 'shift+tab')) return this.#answers.move(-1)
    if (matchesKey(data, 'down') || matchesKey(data, 'tab')) return this.#answers.move(1)
    if (matchesKey(data, 'ctrl+o')) return this.#pages.turn(this.#sections(this.#width), this.#room(this.#width))
    if (matchesKey(data, 'enter')) return this.#enter()
    if (this.#answers.writing) return this.#answers.line!.handleInput(data)
    const typed = decodeKittyPrintable(data) ?? data
    if (typed === ' ' && question.multiple) return this.#answers.mark()
    if (/^[1-9]$/.test(typed)) return this.#number(Number(typed) - 1)
    if (this.#answers.line) this.#write((line) => line.handleInput(data))
  }

  #number(at: number): void {
    if (at >= this.#parts.question.options.length || !this.#answers.go(at)) return
    if (this.#parts.question.multiple) this.#answers.mark()
    else this.#enter()
  }

  #enter(): void {
    const picks = this.#answers.picks()
    if (picks) this.#answer(picks)
  }

  #answer(picks?: string[]): void {
    this.close()
    this.#parts.answer(picks)
  }

  /** The cursor is in the line only while letters go there. */
  #attend(): void {
    if (this.#answers.line) this.#answers.line.focused = this.#focused && this.#answers.writing
  }

  async #countDown(): Promise<void> {
    const { clock, question, changed } = this.#parts
    const { signal } = this.#open
    for (let left; (left = (question.otherwise?.at ?? 0) - clock.now()) > 0 && !signal.aborted;) {
      await clock.sleep(left % 1000 || 1000, signal)
      if (!signal.aborted) changed()
    }
  }

  async #compare(shown: Extract<Shown, { type: 'diff' }>): Promise<void> {
    this.#diffs.set(shown, await diffLines(shown))
    this.invalidate()
    if (!this.#open.signal.aborted) this.#parts.changed()
  }

  #sections(width: number): BodySection[] {
    if (this.#body?.width !== width) {
      const { question, theme } = this.#parts
      this.#body = { width, sections: bodySections(question, this.#diffs, width, theme) }
    }
    return this.#body.sections
  }

  #room(width: number): number {
    const { rows, theme } = this.#parts
    const answers = this.#answers.render(width, theme).length
    const all = rows?.() ?? smallest
    const left = all - chrome - this.#foot(width).length - answers
    return left >= leastBody ? left : Math.max(1, all - boxEdges - tightAnswers(answers, all) - 1)
  }

  #foot(width: number): string[] {
    const said = [this.#counting(), this.#keys()].filter((line) => line !== undefined)
    return said.flatMap((line) => wrapTextWithAnsi(line, width)).map(this.#parts.theme.quiet)
  }

  render(width: number): string[] {
    const { theme, question, by } = this.#parts
    const inside = Math.max(1, width - boxSides)
    this.#width = inside
    const body = this.#pages.lines(this.#sections(inside), this.#room(inside))
    const answers = this.#answers.render(inside, theme)
    this.#answersAt = body.length + 2
    const whole = [...body, '', ...answers, ...(answers.length > 0 ? [''] : []), ...this.#foot(inside)]
    const rows = this.#parts.rows?.() ?? smallest
    const lines = whole.length + boxEdges <= rows ? whole : this.#tight(body, answers.length, inside, rows)
    const paint = cardPaint(question, theme)
    return boxed(lines, width, paint, { title: paint(cardTitle(question, by)) })
  }

  /** Where there is no room for all of it: what is asked and what Enter would answer, before any blank line or hint. */
  #tight(body: string[], answers: number, width: number, rows: number): string[] {
    const room = Math.max(1, rows - boxEdges - tightAnswers(answers, rows))
    const shown = this.#answers.render(width, this.#parts.theme, tightAnswers(answers, rows))
    const more = this.#parts.theme.quiet('… Ctrl+O shows all')
    const cut = body.length <= room ? body : room === 1 ? body.slice(0, 1) : [...body.slice(0, room - 1), more]
    this.#answersAt = cut.length + 1
    const foot = this.#foot(width)
    const left = rows - boxEdges - cut.length - shown.length
    return [...cut, ...shown, ...(foot.length <= left ? foot : [])]
  }

  #counting(): string | undefined {
    const { clock, question } = this.#parts
    const { otherwise, options } = question
    if (!otherwise) return undefined
    const label = options.find(({ id }) => id === otherwise.pick)?.label ?? otherwise.pick
    const seconds = Math.max(0, Math.ceil((otherwise.at - clock.now()) / 1000))
    return `“${readableText(label)}” by itself in ${seconds} s`
  }

  #keys(): string {
    const { multiple, options } = this.#parts.question
    const esc = `Esc: ${leaving(this.#parts.question).says}`
    if (this.#straying) return `What you type goes to the input · ↑ ↓ to answer here · ${esc}`
    const numbers = options.length > 1 ? `1–${Math.min(9, options.length)} or ` : ''
    if (this.#answers.count === 0) return esc
    return multiple ? `Space marks · Enter answers · ${esc}` : `${numbers}Enter answers · ${esc}`
  }

  handleMouse(event: TuiMouseEvent): TuiMouseEventResult | undefined {
    if (event.type !== 'click' || event.button !== 'left' || this.#open.signal.aborted) return undefined
    const at = this.#answers.drawnAt(event.y - this.#answersAt)
    if (at >= this.#parts.question.options.length) this.#answers.goWrite()
    else if (at >= 0) this.#number(at)
    this.#attend()
    return { handled: true, focus: true }
  }
}
