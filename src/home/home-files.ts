import type { Io } from '../core/io.ts'
import { lstatSync, readdirSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { errorCode, isMissing } from '../base/files/files.ts'
import { storeError } from '../store/store-error.ts'
import { UsageError } from '../core/io.ts'
import type { HomeRow } from './home-table.ts'
import { asideRow, homeTable, personTable, projectTable, runTable } from './home-table.ts'
import { homeOf } from './place.ts'

/** Something that we keep in our home, with its files and folders. With `made`, it can be made again; without, it cannot. */
type HomeItem = { path: string; parts: string[]; what: string; made?: true }

/** Returns our home. Throws if a file has its name, because that file must not be read or deleted. */
export function homeFolder(env: Io['env']): string {
  const home = homeOf(env)
  const stat = statSync(home, { throwIfNoEntry: false })
  if (stat && !stat.isDirectory())
    throw new UsageError(`${home} is a file, not a folder: set TERMAITE_HOME to a folder for termaite’s files.`)
  return home
}

/** The folder of our compiled code; see bin/termaite.cjs. */
export function codeCache(env: Io['env']): string | undefined {
  const place = env.XDG_CACHE_HOME || (env.HOME && join(env.HOME, '.cache'))
  const cache = place && isAbsolute(place) ? join(place, 'termaite') : undefined
  return cache !== undefined && isFolder(cache) ? cache : undefined
}

/** The contents of our home: our own files, files that the person wrote (which only they delete), and files that belong to others. */
type HomeContents = { ours: HomeItem[]; yours: { path: string; what: string }[]; strangers: string[] }

/** A project's folder ends in the hash of its path. */
const slug = /-[0-9a-z]{11}$/
const isOfProject = (name: string) => [...projectTable, asideRow].some((row) => row.name.test(name))

const kindOf = ({ path }: HomeRow) => (path.endsWith('/') ? 'folder' : 'file')

/** Sorts the contents of our home, so that a home in a folder full of other files does those no harm. */
export function homeContents(home: string): HomeContents {
  const found: HomeContents = { ours: [], yours: [], strangers: [] }
  for (const name of namesIn(home).filter((name) => name !== 'projects' && name !== 'run')) {
    const path = join(home, name)
    const kind = isFolder(path) ? 'folder' : 'file'
    const own = homeTable.find((row) => row.name.test(name) && kindOf(row) === kind)
    const known = asideRow.name.test(name) ? asideRow : own
    const yours = personTable.find((row) => row.name.test(name))
    if (known) found.ours.push({ path, parts: [path], what: known.what, made: own?.made })
    else if (yours) found.yours.push({ path, what: yours.what })
    else found.strangers.push(path)
  }
  for (const name of namesIn(join(home, 'run'))) {
    const path = join(home, 'run', name)
    const row = runTable.find((each) => each.name.test(name))
    if (row) found.ours.push({ path, parts: [path], what: row.what, made: true })
    else found.strangers.push(path)
  }
  for (const name of namesIn(join(home, 'projects'))) {
    const path = join(home, 'projects', name)
    const inside = slug.test(name) && isFolder(path) ? namesIn(path) : []
    const parts = inside.filter(isOfProject).map((part) => join(path, part))
    if (parts.length > 0) found.ours.push({ path, parts, what: 'conversations' })
    if (parts.length === 0) found.strangers.push(path)
    else found.strangers.push(...inside.filter((part) => !isOfProject(part)).map((part) => join(path, part)))
  }
  return found
}

/** Deletes items of ours, and each folder that becomes empty. */
export function remove(home: string, items: readonly HomeItem[]): void {
  for (const { path, parts } of items) {
    for (const part of parts) rmSync(part, { recursive: true, force: true })
    removeIfEmpty(path)
  }
  for (const name of ['run', 'projects']) removeIfEmpty(join(home, name))
  removeIfEmpty(home)
}

/** Adds up the size of files; a file that vanishes meanwhile counts as empty. */
export function sizeOf(path: string): number {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (!stat?.isDirectory()) return stat?.size ?? 0
  return namesIn(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0)
}

function removeIfEmpty(path: string): void {
  if (isFolder(path) && namesIn(path).length === 0) rmdirSync(path)
}

/** Lists the names in a folder, sorted; empty if the folder does not exist. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort()
  } catch (error) {
    if (isMissing(error) || errorCode(error) === 'ENOTDIR') return []
    throw storeError('read', folder, error)
  }
}

const isFolder = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true
