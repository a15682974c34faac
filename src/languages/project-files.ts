import type { LanguageServer } from './server-table.ts'
import { lstat, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** A change of a file that is not open, with the protocol's number: created, changed or deleted. */
type FileEvent = { path: string; type: 1 | 2 | 3 }

const skipped = new Set(['node_modules', 'target', 'dist', 'build', 'out', 'vendor', 'coverage', '__pycache__', 'venv'])
const mostFiles = 20_000

/**
 * The source files of a language below a folder, with their times. A server reads files that are not open by itself, but must be informed
 * about changes: most servers do not watch files, or cannot do so inside a sandbox.
 */
export class ProjectFiles {
  #root: string
  #server: LanguageServer
  #known: Map<string, string> | undefined
  #installed: string | undefined

  constructor(root: string, server: LanguageServer) {
    this.#root = root
    this.#server = server
  }

  /** The files that changed since the last call, and whether packages were installed since then. The first call finds nothing new. */
  async changes(): Promise<{ events: FileEvent[]; installed: boolean }> {
    const [now, stamps] = await Promise.all([this.#look(), this.#stamps()])
    const was = this.#known
    const installed = this.#installed !== undefined && this.#installed !== stamps
    this.#known = now
    this.#installed = stamps
    if (!was) return { events: [], installed }
    const events: FileEvent[] = []
    for (const [path, stamp] of now) {
      const before = was.get(path)
      if (before !== stamp) events.push({ path, type: before === undefined ? 1 : 2 })
    }
    for (const path of was.keys()) if (!now.has(path)) events.push({ path, type: 3 })
    return { events, installed }
  }

  async #look(): Promise<Map<string, string>> {
    const { files, markers } = this.#server
    const found = new Map<string, string>()
    let folders = [this.#root]
    while (folders.length > 0 && found.size < mostFiles) {
      const below = await Promise.all(folders.map((folder) => this.#lookInto(folder, found, files, markers)))
      folders = below.flat()
    }
    return found
  }

  async #lookInto(
    folder: string,
    found: Map<string, string>,
    files: LanguageServer['files'],
    markers: readonly string[],
  ): Promise<string[]> {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
    const below: string[] = []
    const wanted: string[] = []
    for (const entry of entries) {
      if (entry.isDirectory()) {
        if (!entry.name.startsWith('.') && !skipped.has(entry.name)) below.push(join(folder, entry.name))
      } else if (markers.includes(entry.name) || Object.hasOwn(files, entry.name.slice(entry.name.lastIndexOf('.'))))
        wanted.push(join(folder, entry.name))
    }
    await Promise.all(
      wanted.slice(0, Math.max(0, mostFiles - found.size)).map(async (path) => {
        const there = await lstat(path).catch(() => undefined)
        if (there) found.set(path, `${there.size} ${there.mtimeMs}`)
      }),
    )
    return below
  }

  async #stamps(): Promise<string> {
    const times = await Promise.all(
      this.#server.installed.map((name) =>
        stat(join(this.#root, name)).then(
          ({ mtimeMs }) => mtimeMs,
          () => 0,
        ),
      ),
    )
    return times.join(' ')
  }
}
