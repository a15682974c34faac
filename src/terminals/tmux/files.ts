import type { ServerPlace } from './server.ts'
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../../base/files.ts'

const longestStartMs = 60_000
const rounds = 10

export type Mode = 'window' | 'pane'

/** Where a terminal is, for whoever looks for it after us. */
export type Place = { server: ServerPlace; mode: Mode }

/** What is kept of one terminal: its place, its exit, and what it drew last. */
export class TerminalFiles {
  readonly folder: string
  readonly out: string
  readonly run: string

  constructor(folder: string, id: string) {
    this.folder = join(folder, id)
    this.out = join(this.folder, 'out')
    this.run = join(this.folder, 'run')
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

  /** Its pane's numbers, as its shell wrote them down when it began. */
  pane(): string {
    return readFileSync(join(this.folder, 'pane'), 'utf8')
  }

  /** Whether its shell has yet to start: it takes its script away. One that has waited so long never will. */
  waits(now: number): boolean {
    const script = statSync(this.run, { throwIfNoEntry: false })
    return script !== undefined && now - script.mtimeMs < longestStartMs
  }

  /** What the program exited with, as its shell wrote it down. */
  exitCode(): number | undefined {
    const path = join(this.folder, 'exit')
    return existsSync(path) ? Number(readFileSync(path, 'utf8')) : undefined
  }

  /** What keeps the output may begin one more file in the middle of it. */
  remove(): void {
    for (let round = 0; round < rounds && existsSync(this.folder); round++)
      rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 })
  }

  #write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text, { mode: 0o600 })
  }
}
