import type { Clock } from '../base/clock.ts'
import type { Terminal } from '../core/screen/terminal.ts'
import { appendFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { StringDecoder } from 'node:string_decoder'
import { stripAnsi } from '../base/ansi.ts'
import { makeFolder } from '../base/files.ts'

/** So many logs are kept of each agent. */
const mostLogs = 10

/** What a screen draws again and again is written once as long as it is among the last lines. */
const remembered = 400

/** A run that draws without end does not fill the disk. */
const mostBytes = 64 * 1024 * 1024

/** What goes to another row ends a line, and what goes on in the same one is a space. */
const rowMoves = /\u001b\[\d*(?:;\d*)?[ABEFHJdf]|\r/g
const columnMoves = /\u001b\[\d*[CG]/g
/** A mark that turns, and behind it what counts along: the same line each time. */
const spins = /^\s*[\u2800-\u28ff·✢✳✶✻✽*○◦]\s/
const changing = /[\d\u2800-\u28ff·✢✳✶✻✽*○◦]+/g

/** Writes what happened and what was shown, each line with its time. */
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

  /** Something that happened. */
  tell(words: string): void {
    this.#write(`-- ${words}`)
  }

  /** Everything that a terminal shows from now on. */
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
    // A log that cannot be written takes nobody from work.
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

/** The names of one agent's logs sort by their time. */
function rotate(folder: string, agent: string, most: number): void {
  const own = readdirSync(folder).filter((name) => {
    const time = name.startsWith(`${agent}-`) ? name.slice(agent.length + 1) : ''
    return /^\d{4}-\d\d-\d\dT[\d-]+Z\.log$/.test(time)
  })
  for (const name of own.sort().slice(0, Math.max(0, own.length - most))) rmSync(join(folder, name), { force: true })
}
