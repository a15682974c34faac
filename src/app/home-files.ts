import type { Io } from '../core/io.ts'
import { lstatSync, readdirSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { errorCode, isMissing } from '../base/files.ts'
import { storeError } from '../store/store-error.ts'
import { UsageError } from '../core/io.ts'
import { homeOf } from './place.ts'
import { isProcessNote } from './running-processes.ts'

/** Something that we keep in our home, and its files and folders. What is `made` can be made again; the rest cannot. */
export type HomeItem = { path: string; parts: string[]; what: string; made?: true }

/** Returns our home. Throws where a file has its name, so that the file is neither read nor deleted. */
export function homeFolder(env: Io['env']): string {
  const home = homeOf(env)
  const stat = statSync(home, { throwIfNoEntry: false })
  if (stat && !stat.isDirectory())
    throw new UsageError(`${home} is a file, not a folder: set TERMAITE_HOME to a folder for termaite’s files.`)
  return home
}

/** The folder where Node keeps our compiled code; see bin/termaite.cjs. */
export function codeCache(env: Io['env']): string | undefined {
  const place = env.XDG_CACHE_HOME || (env.HOME && join(env.HOME, '.cache'))
  const cache = place && isAbsolute(place) ? join(place, 'termaite') : undefined
  return cache !== undefined && isFolder(cache) ? cache : undefined
}

/** The contents of our home: what is ours, what the person wrote (which only they delete), and what belongs to others. */
export type HomeContents = { ours: HomeItem[]; yours: { path: string; what: string }[]; strangers: string[] }

/** Every file name that we write in our home; any other file is not ours. */
const names: readonly { name: RegExp; what: string; made?: true }[] = [
  { name: /^(settings\.json|config\.yaml)$/, what: 'settings' },
  { name: /^(settings\.json|config\.yaml)\.[\dTZ-]+\.bak$/, what: 'settings, as they were before a setup' },
  { name: /^credentials\.json$/, what: 'API keys' },
  { name: /^mcp\.key$/, what: 'the key to our MCP server over HTTP', made: true },
  { name: /^hub\.key$/, what: 'the key to the hub', made: true },
  { name: /^hub-\w+\.key$/, what: 'the key to another hub' },
  { name: /^hub\.db(-\w+)?$/, what: 'the agents and tasks of the hub' },
  { name: /^(audit\.jsonl|audit-head\.json)$/, what: 'audit: what termaite’s own agent was allowed to do, and did' },
  { name: /^trust\.json$/, what: 'which folders you trust' },
  { name: /^settings\.schema\.json$/, what: 'the schema by which editors check the settings', made: true },
  { name: /^health\.json$/, what: 'quota, cool-down and position of each agent', made: true },
  { name: /^system-spec\.json$/, what: 'facts about this machine, kept for a day', made: true },
  { name: /^termaite\.db(-\w+)?$/, what: 'index over all conversations; can be made again', made: true },
  { name: /^lock\.db(-\w+)?$/, what: 'lock that keeps two processes from writing at the same time', made: true },
  {
    name: /^(settings|settings\.schema|health|trust|audit-head|system-spec)\.json\.tmp$/,
    what: 'left by an interrupted write',
    made: true,
  },
]

/** Names of damaged files and folders that were set aside. */
const aside = { name: /\.[\dTZ-]+\.broken(-\w+)?$/, what: 'damaged and set aside; read it, or delete it' }

/** Names that the person puts into our home for us to read. */
const written = new Map([
  ['TERMAITE.md', 'your own instructions'],
  ['commands', 'your own slash commands'],
  ['skills', 'your own skills'],
  ['agents', 'your own subagents'],
  ['worktrees', 'worktrees of agents; they may hold work'],
])

/** Folders that are ours with everything in them. */
const folders = new Map<string, { what: string; made?: true }>([
  ['trust', { what: 'copies of the files that you trusted, to show what changed' }],
  ['crew', { what: 'conversations of crews' }],
  ['terminals', { what: 'data by which terminals of agents are found again', made: true }],
  ['scratch', { what: 'temporary files of commands in the sandbox', made: true }],
  ['wall', { what: 'filters of the sandbox', made: true }],
  ['walls', { what: 'private homes of agents behind a wall', made: true }],
  ['turns', { what: 'connections of running turns to the tool think', made: true }],
])

/** A project's folder ends in the hash of its path. */
const slug = /-[0-9a-z]{11}$/
const ofProject =
  /^((project|trees)\.json(\.tmp)?|history\.jsonl|output|snapshots(-[0-9a-z]{11})?|caches|[\w.]+\.[\dTZ-]+\.broken)$/

/** Sorts the contents of our home, so that a home in a folder full of other files does those no harm. */
export function homeContents(home: string): HomeContents {
  const found: HomeContents = { ours: [], yours: [], strangers: [] }
  for (const name of namesIn(home).filter((name) => name !== 'projects' && name !== 'run')) {
    const path = join(home, name)
    const own: { what: string; made?: true } | undefined = isFolder(path)
      ? folders.get(name)
      : names.find((row) => row.name.test(name))
    const known = aside.name.test(name) ? aside : own
    if (known) found.ours.push({ path, parts: [path], what: known.what, made: own?.made })
    else if (written.has(name)) found.yours.push({ path, what: written.get(name)! })
    else found.strangers.push(path)
  }
  for (const path of namesIn(join(home, 'run')).map((name) => join(home, 'run', name))) {
    if (isProcessNote(path)) found.ours.push({ path, parts: [path], what: 'note of a running process', made: true })
    else if (path.endsWith('.sock'))
      found.ours.push({ path, parts: [path], what: 'socket of a running process', made: true })
    else found.strangers.push(path)
  }
  for (const name of namesIn(join(home, 'projects'))) {
    const path = join(home, 'projects', name)
    const inside = slug.test(name) && isFolder(path) ? namesIn(path) : []
    const parts = inside.filter((part) => ofProject.test(part)).map((part) => join(path, part))
    if (parts.length > 0) found.ours.push({ path, parts, what: 'conversations' })
    if (parts.length === 0) found.strangers.push(path)
    else found.strangers.push(...inside.filter((part) => !ofProject.test(part)).map((part) => join(path, part)))
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

/** Lists the names in a folder, sorted; none where there is no folder. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort()
  } catch (error) {
    if (isMissing(error) || errorCode(error) === 'ENOTDIR') return []
    throw storeError('read', folder, error)
  }
}

const isFolder = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true
