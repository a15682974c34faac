import type { Dirent } from 'node:fs'
import { lstatSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { isBareFolder, isGitFolder } from '../../base/git.ts'
import { lookAt, openedEntries } from './git-places.ts'

/** A repository: a folder `.git`, a folder that is one itself (`bare`), a file `.git` or a link of that name. */
export type FoundRepository = { path: string; kind: 'folder' | 'bare' | 'pointer' | 'link'; id: string }

export type SearchResult = {
  repositories: FoundRepository[]
  /** Whether all folders were searched: those that are older than a command, and those that it made or changed. */
  whole: { old: boolean; changed: boolean }
}

/** The most folders that are searched: of those that a command made or changed, and of all others. */
export type SearchLimits = { old: number; changed: number }

/**
 * Folders that a command made are searched up to a number that takes a command longer to make than to search. The limit on
 * all others keeps the start of a command in a huge project short.
 */
const searchLimits: SearchLimits = { old: 100_000, changed: 1_000_000 }

/** Folders of packages and builds are large, and nobody works with git in them. */
const skipped = new Set(['node_modules', '.venv', '__pycache__'])

/** A folder as it was read; `ctimeMs` is not a number if it may have changed since. */
type Reading = Pick<Waiting, 'ctimeMs' | 'inBare'> & { below: string[]; found: FoundRepository[] }

/**
 * A folder that waits to be read. Below a folder that is a repository itself only what git accepts as it is counts, because the
 * folders of logs and refs have a HEAD too; the same holds for the project's own folder.
 */
type Waiting = { path: string; ctimeMs: number; inBare: boolean }

/** A folder that changed so shortly before it was read may have changed afterwards without another time. */
const clockStepMs = 20

/** Clocks of file systems are coarse, and those of other machines differ. */
export const clockErrorMs = 2_000

/** So many folders are read before other work of this process gets its turn. */
const atOnce = 1_000

/**
 * Searches a project for repositories. Links are not followed, and a folder `.git` is not looked into. Folders that did not change
 * since the last search are not read again.
 */
export class RepositorySearch {
  #root: string
  #limits: SearchLimits
  #readings = new Map<string, Reading>()

  constructor(root: string, limits = searchLimits) {
    this.#root = root
    this.#limits = limits
  }

  /**
   * Looks through the project. Folders that a command made or changed after `since` come first, however many others there are;
   * one of these that cannot be listed is made readable.
   */
  async look(since = Infinity): Promise<SearchResult> {
    const from = since - clockErrorMs
    const queues = { changed: [] as Waiting[], old: [] as Waiting[] }
    const at = { changed: 0, old: 0 }
    const result: SearchResult = { repositories: [], whole: { old: true, changed: true } }
    const readings = new Map<string, Reading>()
    const enqueue = (path: string, inBare: boolean) => {
      const there = lookAt(path)
      if (!there?.isDirectory()) return
      const age = there.ctimeMs >= from ? 'changed' : 'old'
      if (queues[age].length < this.#limits[age]) queues[age].push({ path, ctimeMs: there.ctimeMs, inBare })
      else result.whole[age] = false
    }
    enqueue(this.#root, false)
    for (let count = 1; ; count++) {
      const age = at.changed < queues.changed.length ? 'changed' : 'old'
      const folder = queues[age][at[age]++]
      if (!folder) break
      const known = this.#readings.get(folder.path)
      const isKnown = known?.ctimeMs === folder.ctimeMs && known.inBare === folder.inBare
      const reading = isKnown ? known : this.#read(folder, age === 'changed')
      readings.set(folder.path, reading)
      result.repositories.push(...reading.found)
      const inBare = folder.inBare || reading.found.some(({ kind }) => kind === 'bare')
      for (const name of reading.below) enqueue(join(folder.path, name), inBare)
      if (count % atOnce === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    this.#readings = readings
    return result
  }

  #read({ path, ctimeMs, inBare }: Waiting, mayOpen: boolean): Reading {
    const began = Date.now()
    const entries = openedEntries(path, mayOpen)
    const found = (entries ?? []).filter(isGitName).map((entry) => repositoryAt(join(path, entry.name)))
    // Without the right to list a folder, git still finds what it knows the name of.
    if (!entries && lookAt(join(path, '.git'))) found.push(repositoryAt(join(path, '.git')))
    const hasHead = !entries || entries.some(({ name }) => name.toLowerCase() === 'head')
    if (hasHead && (inBare || path === this.#root ? isBareFolder(path) : isGitFolder(path)))
      found.push({ ...repositoryAt(path), kind: 'bare' })
    const below = (entries ?? []).filter(
      (entry) => entry.isDirectory() && !isGitName(entry) && !skipped.has(entry.name),
    )
    return {
      ctimeMs: ctimeMs < began - clockStepMs ? ctimeMs : NaN,
      inBare,
      below: below.map(({ name }) => name),
      found,
    }
  }
}

const isGitName = ({ name }: Pick<Dirent, 'name'>) => name.toLowerCase() === '.git'

/** A new file may get the number of one that is gone, so the kind and the target of a link count as well. */
function repositoryAt(path: string): FoundRepository {
  const there = lstatSync(path, { throwIfNoEntry: false })
  const kind = there?.isDirectory() ? 'folder' : there?.isSymbolicLink() ? 'link' : 'pointer'
  return { path, kind, id: `${kind} ${there?.dev}:${there?.ino} ${kind === 'link' ? linkTarget(path) : ''}` }
}

function linkTarget(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}
