import type { Clock } from '../base/time/clock.ts'
import type { Terminal } from '../core/screen/terminal.ts'
import { appendFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { stripAnsi } from '../base/text/ansi.ts'
import { makeFolder } from '../base/files/files.ts'
import { ShownLines } from './shown-lines.ts'

/** How many logs of each agent are kept. */
const mostLogs = 10

/** The largest log, so that a program that draws without end does not fill the disk. */
const mostBytes = 64 * 1024 * 1024

/** How often a changing screen is checked for new lines. */
const lookMs = 500

/** Writes what a supervised agent's terminal showed and what happened to it, each line with its time. */
export class TerminalLog {
  readonly file: string
  #clock: Clock
  #mask: (text: string) => string
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

  /** Writes every line that a terminal shows from now on, once for each time that it is shown. */
  async follow(terminal: Terminal): Promise<void> {
    const { cols, rows } = await terminal.screen()
    const lines = await ShownLines.open({ cols, rows: rows.length }, (line) => this.#line(line))
    const over = new AbortController()
    let drawn = false
    // A line is stored once two consecutive looks find it on the screen, so a screen that stopped changing is read once more.
    let isNew = false
    const looking = async () => {
      while (!over.signal.aborted) {
        await this.#clock.sleep(lookMs, over.signal)
        if (!(drawn || isNew) || over.signal.aborted) continue
        isNew = drawn
        drawn = false
        const now = await terminal.screen().catch(() => undefined)
        if (now && now.rows.length > 0) lines.resize(now.cols, now.rows.length)
        lines.look()
      }
    }
    const looks = looking()
    for await (const { bytes } of terminal.output()) {
      await lines.draw(bytes)
      drawn = true
    }
    over.abort()
    await looks
    lines.look(true)
  }

  #line(raw: string): void {
    const line = stripAnsi(raw)
    this.#seen(line)
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
