import type { Clock } from '../../base/clock.ts'
import type { Event } from '../../core/talk/entry.ts'
import type { Question } from '../../core/talk/question.ts'
import type { Closing, Desk, Happening } from './desk.ts'
import type { Interface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { stripAnsi } from '../../base/ansi.ts'
import { picksTyped, unclearWords } from '../../core/talk/typed.ts'
import { createInterface } from 'node:readline'

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
export async function openLines(desk: Desk, parts: LinesParts): Promise<void> {
  const over = new AbortController()
  const signal = AbortSignal.any([parts.signal, over.signal])
  const reader = createInterface({ input: parts.in, output: parts.out, terminal: true, prompt: '> ' })
  const leave = () => over.abort()
  const page = new Page(desk, reader, (text) => parts.out.write(`${text}\n`))
  let interrupted = -Infinity
  desk.seatedAt(page.screen(leave))
  signal.addEventListener('abort', () => reader.close(), { once: true })
  reader.on('close', leave)
  reader.on('line', (line) => page.typed(line))
  reader.on('SIGINT', () => {
    const now = parts.clock.now()
    if (now - interrupted < twiceMs) return leave()
    interrupted = now
    page.say(desk.cancel() ? 'Cancelled. Ctrl+C again leaves.' : 'Ctrl+C again leaves.')
  })
  try {
    for await (const happening of desk.happenings(signal)) page.show(happening)
  } finally {
    reader.close()
  }
}

/** What is said on it, line by line, and the question that the next line answers. */
class Page {
  #desk: Desk
  #reader: Interface
  #write: (text: string) => void
  #open: { ask: string; question: Question }[] = []

  constructor(desk: Desk, reader: Interface, write: (text: string) => void) {
    this.#desk = desk
    this.#reader = reader
    this.#write = write
  }

  screen(exit: () => void) {
    return {
      suspend: async <T>(work: () => Promise<T>) => {
        this.#reader.pause()
        return await work().finally(() => this.#reader.resume())
      },
      copy: async (text: string) => {
        this.#write(stripAnsi(text))
        return 'There is no clipboard here; it is printed above.'
      },
      clear: () => {},
      fill: (text: string) => this.say(`Not sent: ${text}`),
      palette: () => this.say(this.#desk.commands.map(({ name, help }) => `/${name}: ${help}`).join('\n')),
      exit,
    }
  }

  say(text: string): void {
    this.#write(stripAnsi(text))
    this.#reader.prompt()
  }

  typed(line: string): void {
    const [asked] = this.#open
    if (!asked) this.#desk.submit(line)
    else this.#answer(asked, line)
  }

  show(happening: Happening): void {
    const words = this.#wordsOf(happening)
    if (words !== undefined) this.say(words)
  }

  #answer({ ask, question }: { ask: string; question: Question }, line: string): void {
    const picks = picksTyped(question, line)
    if (picks === 'unclear') this.say(unclearWords(question))
    else this.#desk.answer(ask, picks)
  }

  #wordsOf(happening: Happening): string | undefined {
    switch (happening.type) {
      case 'said':
        return happening.how === 'error' ? `Error: ${happening.text}` : happening.text
      case 'queue':
        return happening.texts.length > 0 ? `Waiting: ${happening.texts.join(' | ')}` : undefined
      case 'opened':
        return happening.entries.length === 0 ? 'A new conversation. Type a request, or /help.' : undefined
      case 'closing':
        return closingWords(happening.closing)
      case 'event':
        return this.#eventWords(happening.event)
      default:
        return undefined
    }
  }

  #eventWords(event: Event): string | undefined {
    switch (event.type) {
      case 'reply':
        return `${event.by ?? 'agent'} says:\n${event.text}`
      case 'note':
        return event.text
      case 'attempt':
        return `${event.by} failed: ${event.failure.message}`
      case 'call':
        return `${event.by ?? 'agent'} uses ${event.tool}.`
      case 'question':
        this.#open.push({ ask: event.ask, question: event.question })
        return questionWords(event.question)
      case 'answer':
        this.#open = this.#open.filter(({ ask }) => ask !== event.ask)
        return undefined
      case 'end':
        return event.outcome.ok ? undefined : `The turn failed: ${event.outcome.failure.message}`
      default:
        return undefined
    }
  }
}

function questionWords({ text, shows = [], options }: Question): string {
  const shown = shows.map((one) =>
    one.type === 'command' ? one.command : one.type === 'diff' ? `a change of ${one.path}` : one.text,
  )
  const choices = options.map(({ label, grants }, i) => `${i + 1} ${label}${grants ? ` (covers: ${grants})` : ''}`)
  return [`Question: ${text}`, ...shown, ...choices, 'Answer with a number.'].join('\n')
}

function closingWords({ by, ms, changed, tokens }: Closing): string {
  const parts = [
    `Done${by === undefined ? '' : ` by ${by}`} in ${Math.round(ms / 1000)} s`,
    ...(changed ? [`${changed.files} files changed`] : []),
    ...(tokens === undefined ? [] : [`${tokens} tokens`]),
  ]
  return `${parts.join(', ')}.`
}
