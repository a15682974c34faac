import type { Component, Focusable, TuiMouseEvent, TuiMouseEventResult } from '@earendil-works/pi-tui'
import type { Clock } from '../../base/time/clock.ts'
import type { Question, Shown } from '../../core/talk/question.ts'
import type { Paint, Theme } from '../style/theme.ts'
import type { TextField } from '../style/widgets.ts'
import type { CardDiff } from './card-body.ts'
import { decodeKittyPrintable, matchesKey, wrapTextWithAnsi } from '@earendil-works/pi-tui'
import { inset, insetLines, insideOf, rule, ruled } from '../style/widgets.ts'
import { actionOf } from '../desk/keys.ts'
import { PasteReader } from '../input/paste.ts'
import { CardAnswers } from './card-answers.ts'
import { bodyLines, BodyPages } from './card-body.ts'
import { diffLines } from '../style/diff-lines.ts'
import { cardPaint, cardTitle } from './card-kinds.ts'
import { escapeOf } from '../../core/talk/consent.ts'
import { readableText } from '../../questions/question-text.ts'
import { TypingPause } from '../../questions/typing-pause.ts'

type CardParts = {
  theme: Theme
  question: Question
  /** The agent that asks. */
  by?: string
  clock: Clock
  /** How many rows the card may take; without it, as many as fit on a small screen. */
  rows?(): number
  /** How many rows the card may take while the person reads a long body. */
  most?(): number
  /** Called when the card has to be painted again. */
  changed(): void
  answer(picks?: string[]): void
}

/** Keys that only a person who has read the card presses. */
const cardKeys = [
  'up',
  'down',
  'tab',
  'shift+tab',
  'alt+up',
  'alt+down',
  'shift+up',
  'shift+down',
  'pageUp',
  'pageDown',
  'ctrl+o',
] as const
/** The text in place of the key hints until the card takes keys. */
const notYet = 'Keys go to the input until you pause'
const smallest = 19
/** The rows of the rule above the card. */
const titleRows = 1
/** A blank row separates a whole body and the answers only if at least this many lines of the body are visible. */
const roomy = 14

/** A question as a person sees it: who asks, the content, and the answers. */
export class Card implements Component, Focusable {
  #parts: CardParts
  #answers: CardAnswers
  #pastes: PasteReader
  #pages = new BodyPages()
  #diffs = new Map<Shown, CardDiff>()
  #body: { width: number; lines: string[] } | undefined
  #open = new AbortController()
  #focused = false
  /** Starts at the first paint of the card. */
  #pause: TypingPause | undefined
  #awake = false
  #straying = false
  /** How many lines of the body fit on a page, if the body has several pages. */
  #pageRoom: number | undefined
  #answersAt = 0
  /** When the default answer is picked, by the steady clock. */
  #due: number

  constructor(parts: CardParts) {
    this.#parts = parts
    this.#answers = new CardAnswers(parts.question)
    this.#pastes = new PasteReader(parts.clock)
    const { clock, question } = parts
    this.#due = clock.elapsed() + (question.otherwise ? question.otherwise.at - clock.now() : 0)
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

  /**
   * Whether a key is meant for the card. A key is not meant for it when the person cannot have seen it yet, because it is not
   * painted or they are still typing, nor when it was already answered.
   */
  wants(data: string): boolean {
    return this.#isAwake() && !this.#strays(data)
  }

  /** Whether keys count as answers now; otherwise they go to the input. */
  get takesKeys(): boolean {
    return this.#awake && !this.#straying
  }

  #isAwake(): boolean {
    if (this.#open.signal.aborted) return false
    if (!this.#awake) this.#pause?.typed()
    return this.#awake
  }

  /** Waits for the pause in typing; then keys count as answers, and the card is repainted. */
  async #wake(pause: TypingPause): Promise<void> {
    const { signal } = this.#open
    await pause.over(signal)
    if (signal.aborted) return
    this.#awake = true
    this.#parts.changed()
  }

  /**
   * Letters that the card does not use go to the input: a person who types them has not read the card, so their Enter does not answer it.
   */
  #strays(data: string): boolean {
    if (matchesKey(data, 'escape')) return false
    const was = this.#straying
    if (cardKeys.some((key) => matchesKey(data, key))) this.#straying = false
    else this.#straying ||= this.#isStray(decodeKittyPrintable(data) ?? data)
    if (this.#straying !== was) this.#parts.changed()
    return this.#straying
  }

  #isStray(typed: string): boolean {
    if (this.#answers.line !== undefined || this.#shift(typed) !== undefined) return false
    return /^[^\x00-\x20\x7f-\x9f\d]/.test(typed)
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
    if (matchesKey(data, 'escape')) return this.#answer(escapeOf(question).picks)
    const shift = this.#answers.writing ? undefined : this.#shift(data)
    if (shift !== undefined) return this.#answers.shift(shift)
    if (matchesKey(data, 'up') || matchesKey(data, 'shift+tab')) return this.#answers.move(-1)
    if (matchesKey(data, 'down') || matchesKey(data, 'tab')) return this.#answers.move(1)
    const by = matchesKey(data, 'pageUp') ? -1 : matchesKey(data, 'pageDown') ? 1 : undefined
    if (by !== undefined) {
      this.turnPage(by)
      return
    }
    if (matchesKey(data, 'ctrl+o')) return this.#nextPage()
    if (matchesKey(data, 'enter')) return this.#enter()
    if (this.#answers.writing) return this.#answers.line!.handleInput(data)
    const typed = decodeKittyPrintable(data) ?? data
    if (typed === ' ' && question.multiple) return this.#answers.mark()
    if (/^[1-9]$/.test(typed)) return this.#number(Number(typed))
    if (this.#answers.line) this.#write((line) => line.handleInput(data))
  }

  /** The direction in which a key moves the chosen answer; undefined if the order of the answers does not matter. */
  #shift(data: string): 1 | -1 | undefined {
    const action = this.#parts.question.ordered ? actionOf('card', data) : undefined
    return action === 'raise' ? -1 : action === 'lower' ? 1 : undefined
  }

  /** Turns to the next or the previous page, if there is one. Returns false if the body has only one page. */
  turnPage(by: 1 | -1): boolean {
    if (this.#pageRoom === undefined) return false
    this.#pages.turn(by, this.#body?.lines.length ?? 0, this.#pageRoom)
    this.#parts.changed()
    return true
  }

  /** Turns the page with a key that every keyboard has; after the last page comes the first again. */
  #nextPage(): void {
    const last = this.#pageRoom !== undefined && !this.#pages.turn(1, this.#body?.lines.length ?? 0, this.#pageRoom)
    if (last) this.#pages.back()
  }

  #number(key: number): void {
    const seen = this.#answers.grants
    if (!this.#answers.goKey(key)) return
    if (this.#parts.question.multiple) return this.#answers.mark()
    // Beside a long body only the chosen option shows the permission it grants: the first press shows it, the second answers.
    const { grants } = this.#answers
    if (this.#pageRoom !== undefined && grants !== undefined && grants !== seen) return
    this.#enter()
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
    const { clock, changed } = this.#parts
    const { signal } = this.#open
    for (let left; (left = this.#due - clock.elapsed()) > 0 && !signal.aborted;) {
      await clock.sleep(left % 1000 || 1000, signal)
      if (!signal.aborted) changed()
    }
  }

  async #compare(shown: Extract<Shown, { type: 'diff' }>): Promise<void> {
    const colours = import('../style/highlight.ts').catch(() => undefined)
    this.#diffs.set(shown, { lines: await diffLines(shown), colour: (await colours)?.colourCode })
    this.invalidate()
    if (!this.#open.signal.aborted) this.#parts.changed()
  }

  #lines(width: number): string[] {
    if (this.#body?.width !== width) {
      const { question, theme } = this.#parts
      this.#body = { width, lines: bodyLines(question, this.#diffs, width, theme) }
    }
    return this.#body.lines
  }

  #foot(width: number): string[] {
    const keys = wrapTextWithAnsi(this.#keys(), width)
    // The card keeps its height when it begins to take keys.
    const now = this.#awake ? keys : keys.map((_, at) => (at === 0 ? notYet : ''))
    const counting = this.#counting()
    return [...(counting === undefined ? [] : wrapTextWithAnsi(counting, width)), ...now].map(this.#parts.theme.quiet)
  }

  /** Whether the body needs more rows than a card usually takes, on a screen that wide. */
  isLong(columns: number): boolean {
    return this.#whole(insideOf(columns)).length + titleRows > (this.#parts.rows?.() ?? smallest)
  }

  #whole(width: number): string[] {
    const answers = this.#answers.render(width, this.#parts.theme)
    return [...this.#lines(width), '', ...answers, ...(answers.length > 0 ? [''] : []), ...this.#foot(width)]
  }

  render(width: number): string[] {
    const { theme, question, by } = this.#parts
    if (!this.#pause) {
      this.#pause = new TypingPause(this.#parts.clock)
      // Ends when the card is closed.
      void this.#wake(this.#pause)
    }
    const inside = insideOf(width)
    const paint = cardPaint(question, theme)
    const title = paint(cardTitle(question, by))
    if (this.isLong(width)) return [rule(width, paint, title), ...this.#paged(width, paint)]
    this.#pageRoom = undefined
    const lines = this.#whole(inside)
    this.#answersAt = titleRows + this.#lines(inside).length + 1
    return ruled(lines, width, paint, { title })
  }

  /**
   * A card whose body is read page by page: the answers are kept short, and the body gets the rest of the space. A rule below a page says
   * which it is.
   */
  #paged(columns: number, paint: Paint): string[] {
    const width = insideOf(columns)
    const { theme, most, rows } = this.#parts
    const all = Math.max(1, (most ?? rows)?.() ?? smallest) - titleRows
    const body = this.#lines(width)
    const short = this.#answers.renderShort(width, theme)
    const few = Math.max(1, Math.floor(all / 2))
    const answers = short.length <= few ? short : this.#answers.render(width, theme, few)
    const wanted = this.#foot(width)
    const foot = all - answers.length - wanted.length >= 1 ? wanted : []
    const left = Math.max(1, all - answers.length - foot.length)
    const isWhole = body.length <= left - (left > roomy ? 1 : 0)
    const below = left > (isWhole ? roomy : 1) ? 1 : 0
    const room = left - below
    this.#pageRoom = isWhole ? undefined : room
    const page = this.#pages.page(body, room)
    const place = rule(columns, paint, theme.strong(`${page.place} · PgUp, PgDn turn the page`))
    this.#answersAt = titleRows + page.lines.length + below
    return [
      ...insetLines(page.lines, columns),
      ...(below === 0 ? [] : isWhole ? insetLines([''], columns) : [place]),
      ...insetLines([...answers, ...foot], columns),
    ]
  }

  #counting(): string | undefined {
    const { clock, question } = this.#parts
    const { otherwise, options } = question
    if (!otherwise) return undefined
    const label = options.find(({ id }) => id === otherwise.pick)?.label ?? otherwise.pick
    const seconds = Math.max(0, Math.ceil((this.#due - clock.elapsed()) / 1000))
    return `“${readableText(label)}” is picked in ${seconds} s`
  }

  #keys(): string {
    const { multiple, ordered, options } = this.#parts.question
    const esc = `Esc: ${readableText(escapeOf(this.#parts.question).says)}`
    if (this.#straying) return `What you type goes to the input · ↑ ↓ to answer here · ${esc}`
    if (this.#answers.count === 0) return esc
    const numbers = options.length > 1 ? `${this.#answers.keyWords} or ` : ''
    if (!multiple) return `${numbers}Enter answers · ${esc}`
    return `Space marks · ${ordered ? 'Alt+↑ ↓ or the keys [ and ] move the row · ' : ''}Enter answers · ${esc}`
  }

  handleMouse(event: TuiMouseEvent): TuiMouseEventResult | undefined {
    if (event.type !== 'click' || event.button !== 'left' || this.#open.signal.aborted) return undefined
    // A click on something that was there before the card is not for it.
    if (!this.#isAwake()) return { handled: true, focus: true }
    const at = this.#answers.drawnAt(event.y - this.#answersAt, event.x - inset)
    if (at >= this.#parts.question.options.length) this.#answers.goWrite()
    else if (at >= 0) this.#number(this.#answers.keyAt(at))
    this.#updateFocus()
    return { handled: true, focus: true }
  }
}
