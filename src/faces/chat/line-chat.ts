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
import { picksTyped, unclearWords } from '../../core/talk/consent.ts'
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
  /** Ends the chat from outside. */
  signal: AbortSignal
}

/** A second Ctrl+C within this time leaves. */
const twiceMs = 2_000

/** Opens the chat as plain lines, for terminals without a screen and for screen readers: no line is ever painted over. */
export async function openLines(desk: ChatDesk, parts: LinesParts): Promise<void> {
  const over = new AbortController()
  const signal = AbortSignal.any([parts.signal, over.signal])
  const names = () => desk.commands.map(({ name }) => `/${name}`)
  const completer = (line: string) => [names().filter((name) => name.startsWith(line)), line]
  const reader = createInterface({ input: parts.in, output: parts.out, terminal: true, prompt: '> ', completer })
  const leave = () => over.abort()
  const writer = new LineWriter(reader, parts.in, parts.out)
  const conversation = new LineConversation(desk, writer, parts.clock)
  let interrupted = -Infinity
  desk.setScreen(conversation.screen(leave))
  signal.addEventListener('abort', () => reader.close(), { once: true })
  reader.on('close', leave)
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
    if (!writer.drop()) writer.say(desk.cancel() ? 'Cancelled. Ctrl+C again leaves.' : 'Ctrl+C again leaves.')
    writer.prompt()
  })
  try {
    for await (const event of desk.events(signal)) await conversation.show(event)
  } finally {
    reader.close()
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
  #waiting: Standing['waiting']

  constructor(desk: ChatDesk, writer: LineWriter, clock: Clock) {
    this.#desk = desk
    this.#writer = writer
    this.#clock = clock
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
    const [asked] = this.#asked
    return asked?.question.secret === true && !asked.answered
  }

  typed(line: string): void {
    const [asked] = this.#asked
    if (asked && !asked.answered) return this.#answer(asked, line)
    if (line.trim() === '') return this.#promptIfIdle()
    this.#typed.push(line.trim())
    if (line.trim().startsWith('!')) this.#desk.runShell(line.trim().slice(1))
    else this.#desk.submit(line)
  }

  async show(event: DeskEvent): Promise<void> {
    const words = await this.#messageOf(event)
    if (words !== undefined) this.#writer.say(words)
    this.#promptIfIdle()
  }

  /** Asks for the next line, unless a turn runs that asks nothing. */
  #promptIfIdle(): void {
    if (this.#running.size === 0 || this.#asked.length > 0) this.#writer.prompt()
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
        // One question at a time: the next line answers the one that was printed.
        return this.#asked.length === 1 ? questionWords(question, by) : undefined
      }
      case 'answer':
        return this.#answered(event.ask, event.picks)
      default:
        return eventWords(event, this.#clock.now())
    }
  }

  /** Prints a prompt that came another way; one that was typed here stands there already. */
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

/** The input, with a raw mode where it is a terminal. */
type Keys = Readable & { setRawMode?(raw: boolean): void }

/** Writes below what is there, and never over it: a line that the person is typing is shown again afterwards. */
class LineWriter {
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

  /** Shows the prompt for a line, unless it is shown already or the input is closed. */
  prompt(): void {
    if (this.#waits || this.#closed) return
    this.#waits = true
    this.#reader.prompt(true)
  }

  /** Notes that a typed line has ended the prompt. */
  ended(): void {
    this.#waits = false
  }

  /** Throws away what is typed; false when there was nothing. */
  drop(): boolean {
    if (this.#reader.line === '') return false
    this.#reader.write(null, { ctrl: true, name: 'e' })
    this.#reader.write(null, { ctrl: true, name: 'u' })
    this.say('')
    return true
  }

  /** Lends the terminal to another program, as a shell would. */
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
