import type { Clock } from '../base/clock.ts'
import type { Terminal } from '../core/screen/terminal.ts'
import { appendFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { StringDecoder } from 'node:string_decoder'
import { stripAnsi } from '../base/ansi.ts'
import { makeFolder } from '../base/files.ts'

/** How many logs of each agent are kept. */
const mostLogs = 10

/** A line that a screen redraws is written once, as long as it is among this many last lines. */
const remembered = 400

/** The largest log, so that a program that draws without end does not fill the disk. */
const mostBytes = 64 * 1024 * 1024

/** Moves to another row end a line; moves within a row become a space. */
const rowMoves = /\u001b\[\d*(?:;\d*)?[ABEFHJdf]|\r/g
const columnMoves = /\u001b\[\d*[CG]/g
/** A spinner at the head of a line. What changes in such a line, numbers too, does not make it a new line. */
const spins = /^\s*[\u2800-\u28ff·✢✳✶✻✽*○◦]\s/
const changing = /[\d\u2800-\u28ff·✢✳✶✻✽*○◦]+/g

/** Writes what a supervised agent's terminal showed and what happened to it, each line with its time. */
export class TerminalLog {
  readonly file: string
  #clock: Clock
  #mask: (text: string) => string
  #last = new Set<string>()
  #bytes = 0
  #seen: (line: string) => void

  constructor(
    folder: string,
    agent: string,
    parts: { clock: Clock; mask(text: string): string; seen?(line: string): void },
  ) {
    makeFolder(folder)
    const { clock, mask, seen = () => {} } = parts
    this.#clock = clock
    this.#mask = mask
    this.#seen = seen
    this.file = join(folder, `${agent}-${this.#now().replaceAll(/[:.]/g, '-')}.log`)
    rotate(folder, agent, mostLogs - 1)
  }

  /** Writes an event. */
  tell(words: string): void {
    this.#write(`-- ${words}`)
  }

  /** Writes everything that a terminal shows from now on. */
  async follow(terminal: Terminal): Promise<void> {
    const decoder = new StringDecoder()
    let rest = ''
    for await (const { bytes } of terminal.output()) {
      const lines = (rest + decoder.write(Buffer.from(bytes)))
        .replaceAll(rowMoves, '\n')
        .replaceAll(columnMoves, ' ')
        .split('\n')
      rest = lines.pop()!
      for (const line of lines) this.#line(line)
    }
    this.#line(rest)
  }

  #line(raw: string): void {
    const line = stripAnsi(raw).trimEnd()
    if (line.trim() === '') return
    this.#seen(line)
    const same = spins.test(line) ? line.replaceAll(changing, '#') : line
    if (this.#last.has(same)) return
    this.#last.add(same)
    if (this.#last.size > remembered) this.#last.delete(this.#last.values().next().value!)
    this.#write(line)
  }

  #write(words: string): void {
    const line = `${this.#now()} ${this.#mask(words)}\n`
    this.#bytes += line.length
    // A log that cannot be written must not stop the agent.
    if (this.#bytes <= mostBytes)
      try {
        appendFileSync(this.file, line, { mode: 0o600 })
      } catch {
        this.#bytes = Infinity
      }
  }

  #now(): string {
    return new Date(this.#clock.now()).toISOString()
  }
}

/** Deletes the oldest logs of an agent. Their names sort by time. */
function rotate(folder: string, agent: string, most: number): void {
  const own = readdirSync(folder).filter((name) => {
    const time = name.startsWith(`${agent}-`) ? name.slice(agent.length + 1) : ''
    return /^\d{4}-\d\d-\d\dT[\d-]+Z\.log$/.test(time)
  })
  for (const name of own.sort().slice(0, Math.max(0, own.length - most))) rmSync(join(folder, name), { force: true })
}
