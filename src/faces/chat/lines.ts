import type { Clock } from '../../base/clock.ts'
import type { Desk } from './desk.ts'
import type { Readable, Writable } from 'node:stream'
import { createInterface } from 'node:readline'
import { LineConversation } from './lines/line-conversation.ts'
import { LineWriter } from './lines/pen.ts'

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
  const names = () => desk.commands.map(({ name }) => `/${name}`)
  const completer = (line: string) => [names().filter((name) => name.startsWith(line)), line]
  const reader = createInterface({ input: parts.in, output: parts.out, terminal: true, prompt: '> ', completer })
  const leave = () => over.abort()
  const pen = new LineWriter(reader, parts.in, parts.out)
  const page = new LineConversation(desk, pen)
  let interrupted = -Infinity
  desk.seatedAt(page.screen(leave))
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
    for await (const happening of desk.happenings(signal)) await page.show(happening)
  } finally {
    reader.close()
  }
}
