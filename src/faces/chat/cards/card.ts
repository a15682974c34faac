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
import { escapeAnswer, cardPaint, cardTitle } from './card-kinds.ts'
import { readableText } from '../../question-text.ts'

type CardParts = {
  theme: Theme
  question: Question
  /** The agent that asks. */
  by?: string
  clock: Clock
  /** How many rows the card may take; without it, as many as fit on a small screen. */
  rows?(): number
  /** Called when the card has to be painted again. */
  changed(): void
  answer(picks?: string[]): void
}

/** A person who was typing when the card opened must pause this long before a key counts as an answer. */
const pauseMs = 400
/** Keys that only a person presses who has seen the card. */
const cardKeys = ['up', 'down', 'tab', 'shift+tab', 'ctrl+o'] as const
/** Rows that every card has: its frame, the blank lines, and the hint about hidden lines. */
const chrome = 5
const smallest = 19
const boxEdges = 2
/** The body has at least this many lines, unless there is no room. */
const leastBody = 3

/** Rows for the answers in a card that is too small for all of them. */
const tightAnswers = (answers: number, rows: number) =>
  Math.min(answers, Math.max(1, Math.ceil((rows - boxEdges) * 0.6)))

/** A question as a person sees it: who asks, what it is about, and the answers. */
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
    // Ends when the card is closed.
    void this.#countDown()
    for (const shown of parts.question.shows ?? []) if (shown.type === 'diff') void this.#compare(shown)
  }

  get focused(): boolean {
    return this.#focused
  }

  set focused(focused: boolean) {
    this.#focused = focused
    this.#updateFocus()
  }

  close(): void {
    this.#open.abort()
  }

  invalidate(): void {
    this.#body = undefined
  }

  /** Whether a key is meant for the card: keys typed just after it opened, or after it was answered, are the input's. */
  wants(data: string): boolean {
    if (this.#open.signal.aborted) return false
    const now = this.#parts.clock.now()
    if (cardKeys.some((key) => matchesKey(data, key))) this.#awake = true
    if (now - this.#quietSince >= pauseMs) this.#awake = true
    if (!this.#awake) this.#quietSince = now
    return this.#awake && !this.#strays(data)
  }

  /** Letters that the card does not use go to the input: the person who types them has not read the card, and their Enter does not answer it. */
  #strays(data: string): boolean {
    if (matchesKey(data, 'escape')) return false
    const was = this.#straying
    if (cardKeys.some((key) => matchesKey(data, key))) this.#straying = false
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
      this.#updateFocus()
    }
  }

  #write(work: (line: TextField) => void): void {
    if (!this.#answers.line) return
    this.#answers.goWrite()
    work(this.#answers.line)
  }

  #key(data: string): void {
    const { question } = this.#parts
    if (matchesKey(data, 'escape')) return this.#answer(escapeAnswer(question).picks)
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

  /** Shows the cursor in the line only while keys are typed into it. */
  #updateFocus(): void {
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

  /** A card without room for everything: the question and the answer of Enter come before blank lines and hints. */
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
    return `“${readableText(label)}” is picked in ${seconds} s`
  }

  #keys(): string {
    const { multiple, options } = this.#parts.question
    const esc = `Esc: ${escapeAnswer(this.#parts.question).says}`
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
    this.#updateFocus()
    return { handled: true, focus: true }
  }
}
