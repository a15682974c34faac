import type { Journal, Journalled } from '../../core/work/profile.ts'
import { open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

type Place = { home: string; cwd: string; env: Readonly<Record<string, string | undefined>> }

/** How many of the newest files are looked at. */
const candidates = 24

/** How much of the end of a file is read. */
const mostBytes = 32 * 1024 * 1024

type File = { path: string; size: number; changed: number }

/**
 * Reads what a CLI's own journal says of one turn. The size of each file before the prompt was pasted is remembered:
 * a line that was there before belongs to an earlier turn.
 */
export class JournalReader {
  #journal: Journal
  #folder: string
  #before = new Map<string, number>()
  /** The size and time of a file when it was read; the time alone is not enough, because two writes may have the same one. */
  #read = new Map<string, string>()
  #found: { path: string; said: Journalled } | undefined

  constructor(journal: Journal, place: Place) {
    this.#journal = journal
    this.#folder = journal.folder(place)
  }

  /** Remembers the files as they are before the turn. */
  async open(): Promise<void> {
    for (const { path, size } of await this.#files()) this.#before.set(path, size)
  }

  /**
   * Reads what the journal says now of the turn whose prompt holds the mark; `key` is the session's, where that is
   * known.
   */
  async look(mark: string, key: string | undefined): Promise<Journalled | undefined> {
    const files = this.#found ? await this.#sized([this.#found.path]) : await this.#files()
    const named = key === undefined ? [] : files.filter(({ path }) => path.includes(key))
    for (const file of named.length > 0 ? named : files) {
      const state = `${file.size} ${file.changed}`
      if (file.size === this.#before.get(file.path) || this.#read.get(file.path) === state) continue
      this.#read.set(file.path, state)
      const said = this.#journal.read(await this.#lines(file), mark)
      if (said) {
        this.#found = { path: file.path, said }
        break
      }
    }
    return this.#found?.said
  }

  async #lines({ path, size }: File): Promise<string[]> {
    // A file that is written line by line is read from its size before the turn; any other file is read whole.
    const from = path.endsWith('.jsonl') ? (this.#before.get(path) ?? 0) : 0
    const text = await part(path, Math.max(from, size - mostBytes), size)
    return text.split('\n').filter((line) => line !== '')
  }

  async #files(): Promise<File[]> {
    const names = await readdir(this.#folder, { recursive: true }).catch(() => [])
    const files = await this.#sized(
      names.filter((name) => this.#journal.file.test(name)).map((name) => join(this.#folder, name)),
    )
    return files.sort((a, b) => b.changed - a.changed).slice(0, candidates)
  }

  async #sized(paths: readonly string[]): Promise<File[]> {
    const files = await Promise.all(
      paths.map(async (path) => {
        const found = await stat(path).catch(() => undefined)
        return found?.isFile() ? [{ path, size: found.size, changed: found.mtimeMs }] : []
      }),
    )
    return files.flat()
  }
}

async function part(path: string, from: number, to: number): Promise<string> {
  const file = await open(path).catch(() => undefined)
  if (!file) return ''
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(to - from), position: from })
    return buffer.toString('utf8', 0, bytesRead)
  } catch {
    return ''
  } finally {
    await file.close()
  }
}
