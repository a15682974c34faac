import { dirname, join, relative, resolve } from 'node:path'
import { attribute, tag } from '../../core/talk/transcript.ts'
import { fitting, isInside, readUntrustedFile } from './untrusted-file.ts'
import { lstatSync } from 'node:fs'

/** All instruction files together may take this much of the window. */
export const longestInstructions = 32 * 1024

/** Enough to take what a hostile project chains together. */
const mostFiles = 64

/** `cut` says that only the beginning of the file is in `text`. */
export type InstructionFile = { path: string; text: string; cut?: true }

export type Instructions = { text: string; files: InstructionFile[]; warnings: string[] }

/** The person's own instructions, then the project's from its root down; of an untrusted project, nothing is opened. */
export function readInstructions(ground: SessionPlace): Instructions {
  const reading = new InstructionReader(ground.root)
  reading.take(join(ground.home, 'TERMAITE.md'))
  const paths = instructionPaths(ground)
  if (ground.trusted) for (const path of paths) reading.take(path, ground.root)
  else if (paths.length > 0)
    reading.warnings.push(`${reading.named(paths)} not read: this folder is not trusted; /trust changes that.`)
  return { text: instructionText(reading.files), files: reading.files, warnings: reading.all() }
}

const binding =
  'These files bind you here: the later one wins over the earlier, the user’s own words win over all. If your changes make one of them wrong, correct it.'

export function instructionText(files: readonly InstructionFile[]): string {
  return files.length === 0 ? '' : [binding, ...files.map(fileText)].join('\n')
}

export function fileText({ path, text, cut }: InstructionFile): string {
  const rest = cut ? '\n[cut here: read the file for the rest]' : ''
  return tag('instructions', ` path="${attribute(path)}"`, `${text}${rest}`)
}

class InstructionReader {
  files: InstructionFile[] = []
  warnings: string[] = []
  #root: string
  #room = longestInstructions
  #seen = new Set<string>()
  #tooLong: string[] = []

  constructor(root: string) {
    this.#root = root
  }

  /** Takes a file and, before it, what it imports; one that was taken before, by whatever name, is not taken again. */
  take(path: string, within?: string): boolean {
    if (this.#seen.size >= mostFiles) return false
    // A wide encoding can take twice the bytes of what fits.
    const body = readUntrustedFile(path, 2 * longestInstructions, within)
    if (body === undefined) return false
    if (typeof body === 'string') {
      this.warnings.push(`${this.named([path])} not read: ${body}.`)
      return true
    }
    if (this.#seen.has(body.real)) return true
    this.#seen.add(body.real)
    const text = this.#withoutImports(body.text, dirname(body.real), within).trim()
    if (unseen.test(text))
      this.warnings.push(`${path} holds characters that nobody sees; look whether somebody hides something in it.`)
    const kept = fitting(text, this.#room)
    const cut = kept.length < text.length || body.bytes > 2 * longestInstructions
    if (cut) this.#tooLong.push(path)
    this.#room = cut ? 0 : this.#room - Buffer.byteLength(kept)
    if (kept !== '') this.files.push({ path, text: kept, ...(cut ? { cut } : {}) })
    return true
  }

  named(paths: string[]): string {
    const names = paths.map((path) => (isInside(path, this.#root) ? relative(this.#root, path) : path))
    return `${names.join(', ')} ${names.length > 1 ? 'are' : 'is'}`
  }

  all(): string[] {
    if (this.#tooLong.length === 0) return this.warnings
    const long = `The instruction files are longer than ${longestInstructions / 1024} KiB together: ${this.named(this.#tooLong)} cut or left out. Shorten them.`
    return [...this.warnings, long]
  }

  /** Claude Code's way to name another file; a line that names none stays as it is. */
  #withoutImports(text: string, folder: string, within: string | undefined): string {
    let fenced = false
    const lines = text.split(/\r?\n/).filter((line) => {
      if (/^\s*(```|~~~)/.test(line)) fenced = !fenced
      const path = fenced ? undefined : /^@(\S+\.md)\s*$/.exec(line)?.[1]
      return path === undefined || !this.take(resolve(folder, path), within)
    })
    return lines.join('\n')
  }
}

/** What turns the direction of writing round, and letters that are drawn as nothing. */
const unseen = /[\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u

/** Where a session works. `trusted`: whether what comes with the project may steer an agent. */
export type SessionPlace = { cwd: string; root: string; home: string; trusted: boolean }

/** From the project's root down to where the agent works. */
export function folders({ cwd, root }: Pick<SessionPlace, 'cwd' | 'root'>): string[] {
  if (!isInside(cwd, root)) return [cwd]
  const list: string[] = []
  for (let at = cwd; ; at = dirname(at)) {
    list.unshift(at)
    if (at === root) return list
  }
}

/** Of each list the first that a folder has counts: the shared file or what stands in for it, and then our own. */
const names = [
  ['AGENTS.override.md', 'AGENTS.md', 'CLAUDE.md', 'GEMINI.md'],
  ['termaite.md', 'terminus.md'],
]

/** The instruction files that come with a project, the nearest last; nothing is opened, and no link is followed. */
export function instructionPaths(ground: Pick<SessionPlace, 'cwd' | 'root'>): string[] {
  return folders(ground).flatMap((folder) =>
    names.flatMap((list) => {
      const found = list.map((name) => join(folder, name)).find(isThere)
      return found === undefined ? [] : [found]
    }),
  )
}

function isThere(path: string): boolean {
  try {
    lstatSync(path)
    return true
  } catch {
    return false
  }
}
