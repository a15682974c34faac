import type { Clock } from '../../base/clock.ts'
import type { ChatDesk, DeskEvent, Standing } from './chat-desk.ts'
import type { Readable, Writable } from 'node:stream'
import type { Interface } from 'node:readline'
import type { CommandScreen } from '../../core/talk/command.ts'
import type { Event } from '../../core/talk/entry.ts'
import type { Question } from '../../core/talk/question.ts'
import { createInterface } from 'node:readline'
import { safeText } from './transcript/screen-text.ts'
import { typedPrompt } from '../../core/talk/file-references.ts'
import { picksTyped, unclearWords } from '../../core/talk/question.ts'
import {
  answerWords,
  closingWords,
  commandWords,
  eventWords,
  openedWords,
  questionWords,
  unfenced,
  waitingWords,
} from './line-words.ts'

export type LinesParts = {
  in: Readable
  out: Writable
  clock: Clock
  /** Aborts when the chat is to end from outside. */
  signal: AbortSignal
}

/** How long a second Ctrl+C counts as the second. */
const twiceMs = 2_000

/** The chat as plain lines, for terminals without a screen and for screen readers: nothing is ever painted over. */
export async function openLines(desk: ChatDesk, parts: LinesParts): Promise<void> {
  const over = new AbortController()
  const signal = AbortSignal.any([parts.signal, over.signal])
  const names = () => desk.commands.map(({ name }) => `/${name}`)
  const completer = (line: string) => [names().filter((name) => name.startsWith(line)), line]
  const reader = createInterface({ input: parts.in, output: parts.out, terminal: true, prompt: '> ', completer })
  const leave = () => over.abort()
  const pen = new LineWriter(reader, parts.in, parts.out)
  const page = new LineConversation(desk, pen)
  let interrupted = -Infinity
  desk.setScreen(page.screen(leave))
  signal.addEventListener('abort', () => reader.close(), { once: true })
  reader.on('close', leave)
  // Up recalls what was typed, and the newest comes first.
  reader.on('history', (lines) => void (page.secret && lines.shift()))
  reader.on('line', (line) => {
    pen.ended()
    page.typed(line)
  })
  reader.on('SIGINT', () => {
    const now = parts.clock.now()
    if (now - interrupted < twiceMs) return leave()
    interrupted = now
    if (!pen.drop()) pen.say(desk.cancel() ? 'Cancelled. Ctrl+C again leaves.' : 'Ctrl+C again leaves.')
    pen.prompt()
  })
  try {
    for await (const happening of desk.events(signal)) await page.show(happening)
  } finally {
    reader.close()
  }
}

/** A terminal's raw mode, where it has one. */
type Keys = Readable & { setRawMode?(raw: boolean): void }

/** Writes below what is there, and never over it: a line that somebody is typing is shown again after what was said. */
export class LineWriter {
  #reader: Interface;
  #in: Keys
  #out: Writable
  #waits = false
  #closed = false

  constructor(reader: Interface, input: Keys, output: Writable) {
    this.#reader = reader.once('close', () => (this.#closed = true))
    this.#in = input
    this.#out = output
  }

  say(text: string): void {
    const below = this.#waits || this.#reader.line !== ''
    this.#waits = false
    this.#out.write(`${below ? '\n' : ''}${safeText(text)}\n`)
  }

  /** Asks for a line, unless it does already or nobody is left. */
  prompt(): void {
    if (this.#waits || this.#closed) return
    this.#waits = true
    this.#reader.prompt(true)
  }

  /** A line was typed, and ended itself. */
  ended(): void {
    this.#waits = false
  }

  /** Whether there was something typed to throw away. */
  drop(): boolean {
    if (this.#reader.line === '') return false
    this.#reader.write(null, { ctrl: true, name: 'e' })
    this.#reader.write(null, { ctrl: true, name: 'u' })
    this.say('')
    return true
  }

  /** Another program gets the terminal as a shell would give it. */
  async lend<T>(work: () => Promise<T>): Promise<T> {
    this.#reader.pause()
    this.#in.setRawMode?.(false)
    try {
      return await work()
    } finally {
      this.#in.setRawMode?.(true)
      this.#reader.resume()
    }
  }
}

type Asked = { ask: string; question: Question; by?: string; answered?: true }

/** What is said on it, one thing after another, and the question that the next line answers. */
export class LineConversation {
  #desk: ChatDesk
  #pen: LineWriter
  #asked: Asked[] = []
  #typed: string[] = []
  #running = new Set<string>()
  #waiting: Standing['waiting']

  constructor(desk: ChatDesk, pen: LineWriter) {
    this.#desk = desk
    this.#pen = pen
  }

  screen(exit: () => void): CommandScreen {
    return {
      suspend: (work) => this.#pen.lend(work),
      copy: async (text) => {
        this.#pen.say(text)
        return 'There is no clipboard here; it is printed above.'
      },
      clear: () => {},
      fill: (text) => this.#pen.say(`Not sent: ${text}`),
      palette: (query = '') => this.#pen.say(commandWords(this.#desk.commands, query)),
      exit,
    }
  }

  /** Whether the next line is nobody's to see again. */
  get secret(): boolean {
    const [asked] = this.#asked
    return asked?.question.secret === true && !asked.answered
  }

  typed(line: string): void {
    const [asked] = this.#asked
    if (asked && !asked.answered) return this.#answer(asked, line)
    if (line.trim() === '') return this.#rest()
    this.#typed.push(line.trim())
    this.#desk.submit(line)
  }

  async show(happening: DeskEvent): Promise<void> {
    const words = await this.#messageOf(happening)
    if (words !== undefined) this.#pen.say(words)
    this.#rest()
  }

  /** Somebody who waits for an agent is not asked for the next line; who is asked something is. */
  #rest(): void {
    if (this.#running.size === 0 || this.#asked.length > 0) this.#pen.prompt()
  }

  #answer(asked: Asked, line: string): void {
    const picks = picksTyped(asked.question, line)
    if (picks === 'unclear') {
      this.#pen.say(unclearWords(asked.question))
      return this.#rest()
    }
    asked.answered = true
    this.#desk.answer(asked.ask, picks)
  }

  async #messageOf(happening: DeskEvent): Promise<string | undefined> {
    switch (happening.type) {
      case 'said':
        return happening.how === 'error' ? `Error: ${happening.text}` : unfenced(happening.text)
      case 'queue':
        return happening.texts.length > 0 ? `Waiting to be sent: ${happening.texts.join(' | ')}` : undefined
      case 'opened':
        return openedWords(happening.entries)
      case 'closing':
        this.#running.delete(happening.closing.turn)
        return closingWords(happening.closing)
      case 'standing':
        return this.#standingWords(happening.standing)
      case 'event':
        return this.#eventWords(happening.turn, happening.event)
    }
  }

  #standingWords({ waiting }: Standing): string | undefined {
    const [was, now] = [this.#waiting, waiting]
    this.#waiting = now
    return was?.until === now?.until && was?.agent === now?.agent ? undefined : waitingWords(now)
  }

  async #eventWords(turn: string, event: Event): Promise<string | undefined> {
    switch (event.type) {
      case 'prompt':
        this.#running.add(turn)
        return this.#elsewhere(event.text)
      case 'steer':
        return this.#elsewhere(event.text)
      case 'question': {
        const { ask, question, by } = event
        this.#asked.push({ ask, question, ...(by === undefined ? {} : { by }) })
        // One at a time: the next line answers what was read last.
        return this.#asked.length === 1 ? questionWords(question, by) : undefined
      }
      case 'answer':
        return this.#answered(event.ask, event.picks)
      default:
        return eventWords(event)
    }
  }

  /** What was typed here stands there already; what came another way is read out. */
  #elsewhere(text: string): string | undefined {
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
