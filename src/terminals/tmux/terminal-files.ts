import type { ServerPlace } from './tmux-server.ts'
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../../base/files/files.ts'
import { timeApart } from '../../base/time/clock.ts'

const longestStartMs = 60_000
const rounds = 10

export type Mode = 'window' | 'pane'

/** The place of a terminal, for a later process that looks for it. `bound`: its program is stopped with the process that opened it. */
export type Place = { server: ServerPlace; mode: Mode; bound?: true }

/** The files of one terminal: its place, its exit code, its last output. */
export class TerminalFiles {
  readonly folder: string
  readonly out: string
  readonly run: string

  constructor(folder: string, id: string) {
    this.folder = join(folder, id)
    this.out = join(this.folder, 'out')
    this.run = join(this.folder, 'run')
  }

  exist(): boolean {
    return existsSync(this.folder)
  }

  make(scripts: { run: string; keep: string }): void {
    makeFolder(this.folder)
    makeFolder(this.out)
    this.#write('keep', scripts.keep)
    this.#write('run', scripts.run)
  }

  keepPlace(place: Place): void {
    this.#write('place', JSON.stringify(place))
  }

  place(): Place | undefined {
    try {
      return JSON.parse(readFileSync(join(this.folder, 'place'), 'utf8')) as Place
    } catch {
      return undefined
    }
  }

  /** The numbers of its pane, which its shell recorded when it started. */
  pane(): string {
    return readFileSync(join(this.folder, 'pane'), 'utf8')
  }

  /** Whether the shell of the terminal has yet to start: a starting shell removes its script. After a minute it never will. */
  waits(now: number): boolean {
    const script = statSync(this.run, { throwIfNoEntry: false })
    return script !== undefined && timeApart(now, script.mtimeMs) < longestStartMs
  }

  /** Stores the time of a person's key for the processes that manage the terminal. */
  touch(at: number): void {
    try {
      this.#write('touched', String(at))
    } catch {
      // The terminal was closed in the meantime.
    }
  }

  /** When a person last typed through any of our processes; 0 for never. */
  touched(): number {
    try {
      return Number(readFileSync(join(this.folder, 'touched'), 'utf8')) || 0
    } catch {
      return 0
    }
  }

  /** The program's exit code, which its shell recorded. */
  exitCode(): number | undefined {
    const path = join(this.folder, 'exit')
    return existsSync(path) ? Number(readFileSync(path, 'utf8')) : undefined
  }

  /** Removes the folder, in several rounds: the process that stores the output may create one more file meanwhile. */
  remove(): void {
    for (let round = 0; round < rounds && existsSync(this.folder); round++)
      rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 })
  }

  #write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text, { mode: 0o600 })
  }
}
