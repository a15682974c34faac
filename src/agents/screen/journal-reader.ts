import type { Journal, Journalled, JournalLine } from '../../core/profile/profile.ts'
import { open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isOpen } from '../../base/process/process-table.ts'
import { cleanText } from '../../base/text/ansi.ts'

type Place = { home: string; cwd: string; env: Readonly<Record<string, string | undefined>> }

/** A prompt as it was pasted, and a mark in it that no other prompt contains, if there is one. */
export type SoughtPrompt = { text: string; mark?: string }

/** Returns the files of this list that the CLI has open; undefined if that is unknown. */
type OpenedFiles = (paths: readonly string[]) => Promise<string[] | undefined>

/** The number of newest files to look at. */
const candidates = 24

/** The most bytes to read from the end of a file. */
const mostBytes = 32 * 1024 * 1024

type File = { path: string; size: number; changed: number }

/**
 * Reads the part of a CLI's own journal that belongs to one turn. Each file's size before the paste is remembered, and only later lines
 * are read, since earlier lines belong to earlier turns.
 */
export class JournalReader {
  #journal: Journal
  #folder: string
  #opened: OpenedFiles
  /** The sizes before the paste; undefined for a prompt that an earlier process pasted. */
  #before: Map<string, number> | undefined
  /** The size and time of each file when it was last read; the time alone is not enough, because two writes may have the same time. */
  #read = new Map<string, string>()
  #found: { path: string; said: Journalled } | undefined

  constructor(journal: Journal, place: Place, opened: OpenedFiles = async () => undefined) {
    this.#journal = journal
    this.#folder = journal.folder(place)
    this.#opened = opened
  }

  /** Remembers the files as they are before the turn. */
  async open(): Promise<void> {
    this.#before = new Map((await this.#files()).map(({ path, size }) => [path, size]))
  }

  /** Reads the journal's current account of the turn with this prompt; `key` is the session's, if known. */
  async look(prompt: SoughtPrompt, key: string | undefined): Promise<Journalled | undefined> {
    const files = this.#found ? await this.#sized([this.#found.path]) : await this.#files()
    const own = await this.#own(files, key)
    // A CLI may also have the sessions of its own helpers open, whose prompts are not ours.
    const isOwn = own?.length === 1
    for (const file of own ?? files.slice(0, candidates)) {
      const state = `${file.size} ${file.changed} ${isOwn}`
      if (file.size === this.#before?.get(file.path) || this.#read.get(file.path) === state) continue
      this.#read.set(file.path, state)
      const said = turnIn(this.#journal, await this.#lines(file), prompt, isOwn && this.#before !== undefined)
      // Another session may have received the same prompt at the same time.
      if (said && (own !== undefined || this.#found || !isOpen(file.path))) {
        this.#found = { path: file.path, said }
        break
      }
    }
    return this.#found?.said
  }

  /** The files of the session that we started, found by its key or because its CLI has them open. Undefined if neither is known. */
  async #own(files: readonly File[], key: string | undefined): Promise<readonly File[] | undefined> {
    const named = key === undefined ? [] : files.filter(({ path }) => this.#holds(path, key))
    if (named.length > 0) return named
    const open = (await this.#opened(files.map(({ path }) => path))) ?? []
    return open.length > 0 ? files.filter(({ path }) => open.includes(path)) : undefined
  }

  #holds(path: string, key: string): boolean {
    return this.#journal.holds?.(path, key) ?? path.includes(key)
  }

  async #lines({ path, size }: File): Promise<JournalLine[]> {
    const before = this.#before?.get(path) ?? 0
    // A file that has become shorter was rewritten as a whole.
    const from = Math.max(before <= size ? before : 0, size - mostBytes)
    return (await part(path, from, size)).split('\n').flatMap(lineOf)
  }

  /** The session files, the newest first. */
  async #files(): Promise<File[]> {
    const names = await readdir(this.#folder, { recursive: true }).catch(() => [])
    const files = await this.#sized(
      names.filter((name) => this.#journal.file.test(name)).map((name) => join(this.#folder, name)),
    )
    return files.sort((a, b) => b.changed - a.changed)
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

/**
 * Extracts the turn of a prompt from the lines of a journal. The prompt is recognised by its mark, otherwise by its text; `isAlone`: the
 * lines were written after the paste into the session that we started, so the only prompt among them is ours, even if the CLI has changed
 * its text.
 */
export function turnIn(
  journal: Journal,
  lines: readonly JournalLine[],
  { text, mark }: SoughtPrompt,
  isAlone = false,
): Journalled | undefined {
  const prompts = lines.flatMap((line, at) => {
    const words = journal.prompt(line)
    return words === undefined ? [] : [{ at, words: bareWords(words) }]
  })
  const wanted = bareWords(text)
  const last = (isSo: (words: string) => boolean) => prompts.findLast(({ words }) => isSo(words))
  const marked = mark === undefined ? undefined : last((words) => words.includes(mark))
  // A CLI may add to a prompt, for example the files that it mentions.
  const same =
    wanted === '' ? undefined : (last((words) => words === wanted) ?? last((words) => words.includes(wanted)))
  const found = marked ?? same ?? (isAlone && prompts.length === 1 ? prompts[0] : undefined)
  return found && journal.turn(lines.slice(found.at), lines.slice(0, found.at))
}

/**
 * A prompt without everything that CLIs change before they store it: they trim it, fold its lines, expand its tabs, compose its letters,
 * and drop invisible characters.
 */
function bareWords(text: string): string {
  return cleanText(text)
    .toWellFormed()
    .normalize('NFC')
    .replaceAll(/[\s\p{Cc}\p{Cf}]/gu, '')
}

/** Parses a line of a journal; a line that is still being written is skipped. */
function lineOf(line: string): JournalLine[] {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? [value as JournalLine] : []
  } catch {
    return []
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
