import type { Env } from '../base/env.ts'
import type { Clock } from '../base/time/clock.ts'
import type { ChatDesk, DeskEvent, Standing } from './desk/chat-desk.ts'
import type { Readable, Writable } from 'node:stream'
import type { Interface } from 'node:readline'
import type { CommandScreen } from '../core/talk/command.ts'
import { isNote } from '../core/talk/command.ts'
import type { Event } from '../core/talk/entry.ts'
import type { Question } from '../core/talk/question.ts'
import { safeText } from './style/safe-text.ts'
import { typedPrompt } from '../core/talk/file-references.ts'
import { picksTyped, unclearWords } from '../core/talk/consent.ts'
import { TypingPause } from '../questions/typing-pause.ts'
import {
  answerWords,
  closingWords,
  commandWords,
  eventWords,
  lineKeys,
  openedWords,
  questionWords,
  unfenced,
  waitingWords,
} from './line-words.ts'

type LinesParts = {
  in: Readable
  out: Writable
  clock: Clock
  /** The environment of this process: the line editor of Node looks at it too. */
  env: Env
  /** Ends the chat from outside. */
  signal: AbortSignal
}

/** A second Ctrl+C within this time leaves. */
const twiceMs = 2_000

/** Opens the chat as plain lines, for terminals without a screen and for screen readers: it never paints over a line. */
export async function openLines(desk: ChatDesk, parts: LinesParts): Promise<void> {
  const over = new AbortController()
  const signal = AbortSignal.any([parts.signal, over.signal])
  const names = () => desk.commands.map(({ name }) => `/${name}`)
  const completer = (line: string) => [names().filter((name) => name.startsWith(line)), line]
  const { createInterface } = process.getBuiltinModule('node:readline')
  const reader = createInterface({ input: parts.in, output: parts.out, terminal: true, prompt: '> ', completer })
  const leave = () => over.abort()
  const writer = new LineWriter(reader, parts)
  const conversation = new LineConversation(desk, writer, parts.clock, signal)
  let interrupted = -Infinity
  desk.setScreen(conversation.screen(leave))
  signal.addEventListener('abort', () => reader.close(), { once: true })
  reader.on('close', leave)
  const keyed = () => conversation.keyed()
  parts.in.on('keypress', keyed)
  // A secret must not be recalled with Up; the newest line is first.
  reader.on('history', (lines) => {
    if (conversation.secret) lines.shift()
  })
  reader.on('line', (line) => {
    writer.ended()
    conversation.typed(line)
  })
  reader.on('SIGINT', () => {
    const now = parts.clock.elapsed()
    if (now - interrupted < twiceMs) return leave()
    interrupted = now
    if (writer.takeLine() === '') writer.say(desk.cancel() ? 'Cancelled. Ctrl+C again leaves.' : 'Ctrl+C again leaves.')
    writer.prompt()
  })
  try {
    for await (const event of desk.events(signal)) await conversation.show(event)
  } finally {
    reader.close()
    parts.in.off('keypress', keyed)
  }
}

type OpenQuestion = { ask: string; question: Question; by?: string; answered?: true }

/** Prints what happens at the desk, and takes each line as a prompt or as the answer to the open question. */
class LineConversation {
  #desk: ChatDesk
  #clock: Clock
  #writer: LineWriter
  #asked: OpenQuestion[] = []
  #typed: string[] = []
  #running = new Set<string>()
  /** The failures of inner agents that were printed, by their turn. */
  #toldFailures = new Map<string, Set<string>>()
  #waiting: Standing['waiting']
  #over: AbortSignal
  /** The pause before the question that was printed last takes a line as its answer; undefined once it does. */
  #pause: TypingPause | undefined
  /** The text that was typed when a question appeared; the line gets it back after the answer. */
  #aside = ''

  constructor(desk: ChatDesk, writer: LineWriter, clock: Clock, over: AbortSignal) {
    this.#desk = desk
    this.#writer = writer
    this.#clock = clock
    this.#over = over
  }

  screen(exit: () => void): CommandScreen {
    return {
      suspend: (work) => this.#writer.lend(work),
      copy: async (text) => {
        this.#writer.say(text)
        return 'There is no clipboard here; it is printed above.'
      },
      clear: () => {},
      fill: (text) => this.#writer.say(`Not sent: ${text}`),
      keys: () => this.#writer.say(lineKeys),
      palette: (query = '') => this.#writer.say(commandWords(this.#desk.commands, query)),
      exit,
    }
  }

  /** Whether the next line answers a secret question, and must not be shown again. */
  get secret(): boolean {
    return this.#answerable?.question.secret === true
  }

  /** The question that the next line answers. */
  get #answerable(): OpenQuestion | undefined {
    const [asked] = this.#asked
    return asked && !asked.answered && !this.#pause ? asked : undefined
  }

  /** Records a key: a person who is typing when a question appears has not read it yet. */
  keyed(): void {
    this.#pause?.typed()
  }

  typed(line: string): void {
    const asked = this.#answerable
    if (asked) return this.#answer(asked, line)
    if (line.trim() === '') return this.#promptIfIdle()
    this.#typed.push(line.trim())
    if (line.trim().startsWith('!')) this.#desk.runShell(line.trim().slice(1))
    else this.#desk.submit(isNote(line.trim()) ? `/remember ${line.trim()}` : line)
  }

  async show(event: DeskEvent): Promise<void> {
    const [before] = this.#asked
    const words = await this.#messageOf(event)
    const [now] = this.#asked
    if (before && now !== before && !before.answered) this.#dropAnswer(before)
    if (words !== undefined) this.#writer.say(words)
    if (now && now !== before) void this.#takeAnswers()
    if (before && !now) this.#giveBack()
    this.#promptIfIdle()
  }

  /** Prompts for the next line, unless a turn runs without a question, or a question does not take answers yet. */
  #promptIfIdle(): void {
    if (this.#pause) return
    if (this.#running.size === 0 || this.#asked.length > 0) this.#writer.prompt()
  }

  /**
   * Takes answers to the question that was just printed once the person pauses: only then can they have read it. Text typed before that
   * is not an answer. A line that they sent is a prompt, and an unfinished one waits until after the answer.
   */
  async #takeAnswers(): Promise<void> {
    const pause = (this.#pause = new TypingPause(this.#clock))
    await pause.over(this.#over)
    // Another question may have been printed meanwhile, or this one was answered elsewhere.
    if (this.#pause !== pause) return
    this.#pause = undefined
    const typed = this.#writer.takeLine()
    if (typed !== '') {
      this.#aside += typed
      this.#writer.say(`Kept until the question is answered, because it was typed before: ${typed}`)
    }
    this.#promptIfIdle()
  }

  /**
   * Discards an unfinished answer to a question that was settled elsewhere: otherwise it would become a prompt or answer the next
   * question.
   */
  #dropAnswer({ question }: OpenQuestion): void {
    const typed = this.#pause ? '' : this.#writer.takeLine()
    if (typed !== '') this.#writer.say(question.secret ? 'What you typed was not sent.' : `Not sent: ${typed}`)
  }

  /** Puts the text that was typed before the questions back into the line. */
  #giveBack(): void {
    this.#pause = undefined
    const typed = this.#aside
    this.#aside = ''
    if (typed !== '') this.#writer.fill(typed)
  }

  #answer(asked: OpenQuestion, line: string): void {
    const picks = picksTyped(asked.question, line)
    if (picks === 'unclear') {
      this.#writer.say(unclearWords(asked.question))
      return this.#promptIfIdle()
    }
    asked.answered = true
    this.#desk.answer(asked.ask, picks)
  }

  async #messageOf(event: DeskEvent): Promise<string | undefined> {
    switch (event.type) {
      case 'said':
        return event.how === 'error' ? `Error: ${event.text}` : unfenced(event.text)
      case 'progress':
        return undefined
      case 'queue':
        return event.texts.length > 0 ? `Waiting to be sent: ${event.texts.join(' | ')}` : undefined
      case 'opened':
        return openedWords(event.entries)
      case 'closing':
        this.#running.delete(event.closing.turn)
        return closingWords(event.closing)
      case 'standing':
        return this.#standingWords(event.standing)
      case 'event':
        return this.#eventWords(event.turn, event.event)
    }
  }

  #standingWords({ waiting }: Standing): string | undefined {
    const [was, now] = [this.#waiting, waiting]
    this.#waiting = now
    return was?.until === now?.until && was?.agent === now?.agent ? undefined : waitingWords(now)
  }

  /** Words for the end of an agent inside a turn; several agents with the same failure print it once. */
  #innerWords(turn: string, event: Extract<Event, { type: 'inner' }>): string | undefined {
    const { event: inside } = event
    const failure = inside.type === 'end' && !inside.outcome.ok ? inside.outcome.failure.message : undefined
    if (failure !== undefined) {
      const told = this.#toldFailures.get(turn) ?? new Set()
      this.#toldFailures.set(turn, told)
      if (told.has(failure)) return undefined
      told.add(failure)
    }
    return eventWords(event, this.#clock.now())
  }

  async #eventWords(turn: string, event: Event): Promise<string | undefined> {
    switch (event.type) {
      case 'prompt':
        this.#running.add(turn)
        return this.#promptFromElsewhere(event.text)
      case 'steer':
        return this.#promptFromElsewhere(event.text)
      case 'question': {
        const { ask, question, by } = event
        this.#asked.push({ ask, question, by })
        // Only one question at a time: the next line answers the printed one.
        return this.#asked.length === 1 ? questionWords(question, by) : undefined
      }
      case 'answer':
        return this.#answered(event.ask, event.picks)
      case 'inner':
        return this.#innerWords(turn, event)
      case 'end':
        this.#toldFailures.delete(turn)
        return eventWords(event, this.#clock.now())
      default:
        return eventWords(event, this.#clock.now())
    }
  }

  /** Prints a prompt that was not typed here; a typed one is already visible. */
  #promptFromElsewhere(text: string): string | undefined {
    const typed = typedPrompt(text).trim()
    const at = this.#typed.indexOf(typed)
    if (at < 0) return `Asked: ${typed}`
    this.#typed.splice(at, 1)
    return undefined
  }

  async #answered(ask: string, picks: readonly string[] | undefined): Promise<string | undefined> {
    const [first] = this.#asked
    const settled = this.#asked.find((one) => one.ask === ask)
    this.#asked = this.#asked.filter((one) => one !== settled)
    const [next] = this.#asked
    const words = [
      ...(settled && settled === first && !settled.answered ? [answerWords(settled.question, picks)] : []),
      ...(next && next !== first ? [await questionWords(next.question, next.by)] : []),
    ]
    return words.length > 0 ? words.join('\n') : undefined
  }
}

/** The input; it has a raw mode if it is a terminal. */
type Keys = Readable & { setRawMode?(raw: boolean): void }

/** Writes below the existing text and never over it: a line that the person is typing is shown again afterwards. */
class LineWriter {
  #reader: Interface
  #keys: Keys
  #out: Writable
  #dumb: boolean
  #waits = false
  #closed = false

  constructor(reader: Interface, parts: Pick<LinesParts, 'in' | 'out' | 'env'>) {
    this.#reader = reader.once('close', () => (this.#closed = true))
    this.#keys = parts.in
    this.#out = parts.out
    this.#dumb = parts.env.TERM === 'dumb'
  }

  say(text: string): void {
    const below = this.#waits || this.#reader.line !== ''
    this.#waits = false
    // A line of several rows is shown again below the text; the line editor would go up by its rows and paint over it.
    Object.assign(this.#reader, { prevRows: 0 })
    this.#out.write(`${below ? '\n' : ''}${safeText(text)}\n`)
  }

  /** Shows the prompt for a line, unless it is shown already or the input is closed. */
  prompt(): void {
    if (this.#waits || this.#closed) return
    this.#waits = true
    this.#reader.prompt(true)
    // In a dumb terminal the line editor shows only the prompt.
    if (this.#dumb) this.#out.write(this.#reader.line)
  }

  /** Records that the person sent a line: the prompt is no longer shown. */
  ended(): void {
    this.#waits = false
  }

  /** Empties the line and returns its text, which stays on the screen. */
  takeLine(): string {
    const { line } = this.#reader
    if (line === '' || this.#closed) return ''
    this.#out.write('\n')
    this.#waits = false
    this.#setLine('')
    return line
  }

  /** Inserts a text at the beginning of the line, before the typed text, and shows it. */
  fill(text: string): void {
    if (this.#closed) return
    this.#setLine(text + this.#reader.line)
    this.#waits = false
    this.prompt()
  }

  /** Sets the line directly, because the line editor has no keys for that in a dumb terminal (TERM=dumb). */
  #setLine(line: string): void {
    Object.assign(this.#reader, { line, cursor: line.length, prevRows: 0 })
  }

  /** Lends the terminal to another program, as a shell would. */
  async lend<T>(work: () => Promise<T>): Promise<T> {
    this.#reader.pause()
    this.#keys.setRawMode?.(false)
    try {
      return await work()
    } finally {
      this.#keys.setRawMode?.(true)
      this.#reader.resume()
    }
  }
}
