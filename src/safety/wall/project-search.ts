import type { Dirent } from 'node:fs'
import { isUtf8 } from 'node:buffer'
import { lstatSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { lookAt } from '../../base/files/files.ts'
import { isWithin } from '../../base/files/real-path.ts'
import { isBareFolder, isGitFolder } from '../../base/files/git.ts'
import type { Zone } from '../settings-names.ts'
import { openedEntries } from './git-places.ts'
import { namedKind } from '../settings-names.ts'

/** A repository: a folder `.git`, a folder that is itself one (`bare`), a file `.git` or a link of that name. */
export type FoundRepository = { path: string; kind: 'folder' | 'bare' | 'pointer' | 'link'; id: string }

/**
 * A setting, how it counts, and whether it is in a folder that belongs to a builder. `bytes` is its name if that is not text: the path
 * then has the name in the form for sentences, and leads nowhere.
 */
export type FoundSetting = { path: string; kind: 'held' | 'asked'; inBuilt: boolean; bytes?: Buffer }

export type SearchResult = {
  repositories: FoundRepository[]
  /** Files and folders from which programs could start by themselves; of a folder that needs a yes, every file in it. */
  settings: FoundSetting[]
  /** Whether all folders were searched: those that are older than a command, and those that it created or changed. */
  whole: { old: boolean; changed: boolean }
}

/** The most folders that are searched: of those that a command created or changed, and of all others. */
export type SearchLimits = { old: number; changed: number }

/**
 * The limit for folders that a command created is so high that creating them takes longer than searching them. The limit for all others
 * keeps the start of a command in a huge project short.
 */
const searchLimits: SearchLimits = { old: 100_000, changed: 1_000_000 }

/** A folder that was read; `ctimeMs` is not a number if it may have changed since. */
type Reading = Pick<Waiting, 'ctimeMs' | 'inBare' | 'zone'> & {
  below: { name: string; zone: Zone }[]
  found: FoundRepository[]
  settings: FoundSetting[]
}

/**
 * A folder that is to be read. Inside a folder that is itself a repository, only folders count that git would accept as repositories,
 * because the folders of logs and refs also have a HEAD; the same applies to the project's own folder.
 */
type Waiting = { path: string; ctimeMs: number; inBare: boolean; zone: Zone }

/** A folder that changed so shortly before it was read may change again without a new time. */
const clockStepMs = 20

/** Clocks of file systems are coarse, and those of other machines differ. */
export const clockErrorMs = 2_000

/** How many folders are read before other work of this process can run. */
const atOnce = 1_000

/**
 * Searches a project for repositories and settings. Links are not followed, and a folder `.git` is not searched. Folders that did not
 * change since the last search are not read again.
 */
export class ProjectSearch {
  #root: string
  #limits: SearchLimits
  #home: string | undefined
  #readings = new Map<string, Reading>()

  /** `home` is the person's home: the shell and the desktop start programs from its hidden files, so all of these count as `held`. */
  constructor(root: string, { limits = searchLimits, home }: { limits?: SearchLimits; home?: string } = {}) {
    this.#root = root
    this.#limits = limits
    this.#home = home
  }

  /**
   * Searches the project. Folders that a command created or changed after `since` come first, however many others there are; if one of
   * these cannot be listed, it is made listable.
   */
  async look(since = Infinity): Promise<SearchResult> {
    const from = since - clockErrorMs
    const queues = { changed: [] as Waiting[], old: [] as Waiting[] }
    const at = { changed: 0, old: 0 }
    const result: SearchResult = { repositories: [], settings: [], whole: { old: true, changed: true } }
    const readings = new Map<string, Reading>()
    const enqueue = (path: string, inBare: boolean, zone: Zone) => {
      const there = lookAt(path)
      if (!there?.isDirectory()) return
      const age = there.ctimeMs >= from ? 'changed' : 'old'
      if (queues[age].length < this.#limits[age]) queues[age].push({ path, ctimeMs: there.ctimeMs, inBare, zone })
      else result.whole[age] = false
    }
    enqueue(this.#root, false, 'project')
    for (let count = 1; ; count++) {
      const age = at.changed < queues.changed.length ? 'changed' : 'old'
      const folder = queues[age][at[age]++]
      if (!folder) break
      const known = this.#readings.get(folder.path)
      const isKnown = known?.ctimeMs === folder.ctimeMs && known.inBare === folder.inBare && known.zone === folder.zone
      const reading = isKnown ? known : this.#read(folder, age === 'changed')
      readings.set(folder.path, reading)
      result.repositories.push(...reading.found)
      result.settings.push(...reading.settings)
      const inBare = folder.inBare || reading.found.some(({ kind }) => kind === 'bare')
      for (const { name, zone } of reading.below) enqueue(join(folder.path, name), inBare, zone)
      if (count % atOnce === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    this.#readings = readings
    return result
  }

  #read({ path, ctimeMs, inBare, zone }: Waiting, mayOpen: boolean): Reading {
    const began = Date.now()
    const entries = openedEntries(path, mayOpen)
    const found = (entries ?? []).filter(isGitName).map((entry) => repositoryAt(join(path, entry.name)))
    // Even without the right to list a folder, git finds an entry whose name it knows.
    if (!entries && lookAt(join(path, '.git'))) found.push(repositoryAt(join(path, '.git')))
    const hasHead = !entries || entries.some(({ name }) => name.toLowerCase() === 'head')
    if (hasHead && (inBare || path === this.#root ? isBareFolder(path) : isGitFolder(path)))
      found.push({ ...repositoryAt(path), kind: 'bare' })
    const below: Reading['below'] = []
    const settings: FoundSetting[] = []
    for (const entry of (entries ?? []).filter((one) => !isGitName(one))) {
      const isFolder = entry.isDirectory()
      const named =
        path === this.#home && entry.name.startsWith('.')
          ? ({ kind: 'held', below: 'held' } as const)
          : namedKind(entry.name, zone, isFolder)
      if (named.kind === 'held' || (named.kind === 'asked' && !isFolder))
        settings.push({ path: join(path, entry.name), kind: named.kind, inBuilt: zone === 'built' })
      if (isFolder) below.push({ name: entry.name, zone: named.below })
    }
    if (entries?.some(({ name }) => name.includes(unreadable))) settings.push(...textless(path, zone))
    return { ctimeMs: ctimeMs < began - clockStepMs ? ctimeMs : NaN, inBare, zone, below, found, settings }
  }
}

/** The character that replaces bytes that are not text. */
const unreadable = '\ufffd'

/**
 * The entries of a folder whose names are not text, so that no path leads to them: folders, which cannot be searched, and files that
 * would count as settings.
 */
function textless(folder: string, zone: Zone): FoundSetting[] {
  if (zone === 'held') return []
  const all = readdirSync(folder, { encoding: 'buffer', withFileTypes: true })
  return all.flatMap((entry): FoundSetting[] => {
    const bytes = entry.name
    if (isUtf8(bytes)) return []
    const isFolder = entry.isDirectory()
    if (!isFolder && namedKind(bytes.toString(), zone, false).kind === 'free') return []
    return [{ path: join(folder, writtenOut(bytes)), kind: 'asked', inBuilt: zone === 'built', bytes }]
  })
}

/** A name in which bytes that are not text are written as numbers. */
const writtenOut = (bytes: Buffer) =>
  bytes
    .toString('latin1')
    .replaceAll(/[^\x20-\x7e]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`)

/** The searches of this process, by project: each one remembers which folders need not be read again. */
const searches = new Map<string, ProjectSearch>()

/** A home or a temporary folder contains repositories that other programs create at the same time. */
export const isProject = (root: string, home: string) => !isWithin(root, home) && root !== '/tmp' && root !== '/'

/** The search of a folder; a folder that is not a project counts as large, and is only searched in part. */
export function searchOf(root: string, home: string): ProjectSearch {
  const key = `${root}\0${home}`
  const limits = isProject(root, home) ? searchLimits : { old: 10_000, changed: 100_000 }
  const search = searches.get(key) ?? new ProjectSearch(root, { limits, home })
  searches.set(key, search)
  return search
}

const isGitName = ({ name }: Pick<Dirent, 'name'>) => name.toLowerCase() === '.git'

/**
 * A new file may get the number of a deleted one, so the kind and the target of a link count as well. A folder that was moved is a
 * different repository: somebody who works in that place would use it.
 */
function repositoryAt(path: string): FoundRepository {
  const there = lstatSync(path, { throwIfNoEntry: false })
  const kind = there?.isDirectory() ? 'folder' : there?.isSymbolicLink() ? 'link' : 'pointer'
  const more = { folder: path, link: linkTarget(path), pointer: '' }[kind]
  return { path, kind, id: `${kind} ${there?.dev}:${there?.ino} ${more}` }
}

function linkTarget(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}
