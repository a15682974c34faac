import type { CliFiles } from '../../core/profile/profile.ts'
import type { WallBind } from './wall.ts'
import { constants } from 'node:fs'
import { copyFile, cp, lstat, mkdir, open, readdir, readlink, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { makeFolder, replaceFile } from '../../base/files/files.ts'
import { isPlainObject } from '../../base/plain-object.ts'
import { isWithin } from '../../base/files/real-path.ts'

/** The parts of a private home, stored in its folder so that a later process can also copy the state back. */
type HomeRecord = {
  /** The mark in the environment of each process that uses the home. */
  mark: string
  sessions: string[]
  returned: { path: string; inside: string; keys?: readonly string[] }[]
}

type PrivateHome = {
  binds: WallBind[]
  /** Copies the state back and removes the home; resolves with a sentence for each removed item. */
  settle(): Promise<string[]>
}

type HomeWishes = {
  home: string
  /** The project: if it is the home itself or contains it, the limits of the project apply there. */
  root: string
  mark: string
  files: CliFiles | undefined
}

/** A larger file is not copied, because it is not a settings file: a walled program can read it but not write it. */
const largestCopy = 8 << 20

/** A folder with more files contains programs or a history: it can be read inside, but not written. */
const mostCopies = 200

/** Databases cannot be copied while another process writes them: inside the wall the CLI creates new ones. */
const database = /\.(?:db|sqlite\d?)(?:-(?:wal|shm|journal))?$/

/**
 * Makes the home that a CLI sees behind a wall. The home is empty except for the CLI's own folders; a command without a profile, whose
 * folders are unknown, can read the whole home. Both are private: files written there are lost after the run. Only the CLI's sessions are
 * the real ones, and only the files that its profile names are copied back.
 */
export async function makePrivateHome(folder: string, { home, root, mark, files }: HomeWishes): Promise<PrivateHome> {
  makeFolder(folder)
  const own = await Promise.all((files?.folders ?? []).map(madeFolder))
  const fresh = await Promise.all((files?.fresh ?? []).map(real))
  const sessions = await Promise.all((files?.sessions ?? []).map(madeFolder))
  const around = isWithin(await real(root), await real(home)) ? [] : await homeFolders(home, files === undefined)
  const places = [...new Set([...around, ...own])].sort()
  const binds: WallBind[] = []
  const insides = new Map<string, string>()
  for (const place of places) {
    const inside = join(folder, String(insides.size))
    insides.set(place, inside)
    await mkdir(inside, { mode: 0o700 })
    binds.push({ from: inside, to: place, write: true })
    if (files === undefined || own.includes(place))
      binds.push(...(await fill(inside, place, own.includes(place), new Set([...places, ...sessions, ...fresh]))))
  }
  binds.push(...sessions.map((path) => ({ from: path, to: path, write: true })))
  for (const path of files?.steering ?? []) binds.push(await withheld(join(folder, `s${binds.length}`), path))
  const returned = await Promise.all(
    (files?.returned ?? []).map(async ({ path, keys }) => {
      const place = await real(dirname(path))
      const holder = places.findLast((one) => isWithin(one, place))
      const inside = holder === undefined ? undefined : join(insides.get(holder)!, place.slice(holder.length))
      return inside === undefined
        ? []
        : [{ path: join(place, basename(path)), inside: join(inside, basename(path)), keys }]
    }),
  )
  const record: HomeRecord = { mark, sessions, returned: returned.flat() }
  // The original copies later show what the run has changed.
  await mkdir(join(folder, 'before'), { mode: 0o700 })
  await Promise.all(
    record.returned.map(async ({ path, inside }, at) => {
      const there = await contentOf(await real(path))
      if (there === undefined) return
      await rm(inside, { force: true })
      await writeFile(join(folder, 'before', String(at)), there, { mode: 0o600 })
      await writeFile(inside, there, { mode: 0o600 })
    }),
  )
  const shadowed = new Set(record.returned.map(({ path }) => path))
  await writeFile(join(folder, recordName), JSON.stringify(record), { mode: 0o600 })
  return { binds: binds.filter(({ to }) => !shadowed.has(to)), settle: () => settleHome(folder) }
}

const recordName = 'home.json'

const real = (path: string) => realpath(path).catch(() => path)

/** The folders of a home in which any program may create files; in an empty home they need not be made private one by one. */
async function homeFolders(home: string, whole: boolean): Promise<string[]> {
  const usual = ['.', ...(whole ? ['.cache', '.config', '.local', '.local/share', '.local/state'] : [])].map((name) =>
    join(home, name),
  )
  const there = await Promise.all(
    usual.map(async (path) => ((await lstat(path).catch(() => undefined))?.isDirectory() ? [await real(path)] : [])),
  )
  return there.flat()
}

async function madeFolder(path: string): Promise<string> {
  makeFolder(path)
  return real(path)
}

/**
 * Shows the content of a folder. Files of the CLI's own folders are copied, because a program replaces such a file by renaming another
 * one.
 */
async function fill(inside: string, place: string, copies: boolean, others: Set<string>): Promise<WallBind[]> {
  const binds: WallBind[] = []
  for (const entry of await readdir(place, { withFileTypes: true }).catch(() => [])) {
    const path = join(place, entry.name)
    if (others.has(path) || database.test(entry.name)) continue
    if (entry.isSymbolicLink()) await symlink(await readlink(path), join(inside, entry.name)).catch(() => {})
    else if (entry.isDirectory()) {
      const copied = copies && ![...others].some((one) => isWithin(path, one)) && (await isSmall(path))
      if (copied) await cp(path, join(inside, entry.name), { recursive: true, verbatimSymlinks: true }).catch(() => {})
      else binds.push({ from: path, to: path, write: false })
    } else if (entry.isFile()) {
      const copied = copies && (await lstat(path)).size <= largestCopy
      if (copied) await copyFile(path, join(inside, entry.name)).catch(() => {})
      else binds.push({ from: path, to: path, write: false })
    }
  }
  return binds
}

/** Whether a folder can be copied quickly. */
async function isSmall(folder: string): Promise<boolean> {
  const found: string[] = []
  const look = async (path: string): Promise<boolean> => {
    for (const entry of await readdir(path, { withFileTypes: true }).catch(() => [])) {
      const one = join(path, entry.name)
      if (found.push(one) > mostCopies || database.test(entry.name)) return false
      if (entry.isDirectory() ? !(await look(one)) : !entry.isFile() && !entry.isSymbolicLink()) return false
    }
    return true
  }
  if (!(await look(folder))) return false
  const sizes = await Promise.all(found.map(async (path) => (await lstat(path).catch(() => undefined))?.size ?? 0))
  return sizes.reduce((sum, size) => sum + size, 0) <= largestCopy
}

/** Shows a place among the sessions so that no change in it lasts: read-only, or as an empty private folder if it is missing. */
async function withheld(inside: string, path: string): Promise<WallBind> {
  if ((await lstat(path).catch(() => undefined))?.isDirectory()) return { from: path, to: path, write: false }
  await mkdir(inside, { mode: 0o700 })
  return { from: inside, to: path, write: true }
}

/** Reads a plain file that is not too large; a link is not followed, because the CLI behind the wall may have created it. */
async function contentOf(path: string): Promise<Buffer | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => undefined)
  if (!file) return undefined
  try {
    const stat = await file.stat()
    return stat.isFile() && stat.size <= largestCopy ? await file.readFile() : undefined
  } finally {
    await file.close()
  }
}

/** Copies back the state of a home whose processes have all exited, and removes the home. */
async function settleHome(folder: string): Promise<string[]> {
  const record = await recordIn(folder)
  const said: string[] = []
  if (record) {
    const since = await madeAt(folder)
    for (const [at, one] of record.returned.entries()) {
      const before = await contentOf(join(folder, 'before', String(at)))
      await bringBack(one, before)
    }
    for (const place of record.sessions) said.push(...(await removeLinks(place, since)))
  }
  await rm(folder, { recursive: true, force: true })
  return said
}

async function recordIn(folder: string): Promise<HomeRecord | undefined> {
  const text = await contentOf(join(folder, recordName))
  return text && (JSON.parse(text.toString()) as HomeRecord)
}

async function bringBack({ path, inside, keys }: HomeRecord['returned'][number], before?: Buffer): Promise<void> {
  const after = await contentOf(inside)
  if (after === undefined || (before && after.equals(before))) return
  const target = await real(path)
  const now = await contentOf(target)
  if (keys) {
    const changed = withKeys(now, before, after, keys)
    if (changed !== undefined) replaceFile(target, changed)
  }
  // If another process has written the file in the meantime, its version is newer.
  else if (now === undefined ? before === undefined : before?.equals(now)) replaceFile(target, after)
}

/** The JSON object in a file, with the changed values of those keys; undefined if nothing needs to be changed. */
function withKeys(now: Buffer | undefined, before: Buffer | undefined, after: Buffer, keys: readonly string[]) {
  const [current, was, is] = [objectIn(now), objectIn(before), objectIn(after)]
  if (!is || (now && !current)) return undefined
  const changed = keys.filter((key) => Object.hasOwn(is, key) && JSON.stringify(is[key]) !== JSON.stringify(was?.[key]))
  if (changed.length === 0) return undefined
  const merged = { ...current, ...Object.fromEntries(changed.map((key) => [key, is[key]])) }
  return `${JSON.stringify(merged, undefined, 2)}\n`
}

function objectIn(text: Buffer | undefined): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text?.toString() ?? '')
    return isPlainObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Removes new links among the sessions: a later run outside the wall would write through them. */
async function removeLinks(place: string, since: number): Promise<string[]> {
  const said: string[] = []
  for (const entry of await readdir(place, { withFileTypes: true }).catch(() => [])) {
    const path = join(place, entry.name)
    if (entry.isDirectory()) said.push(...(await removeLinks(path, since)))
    if (!entry.isSymbolicLink()) continue
    const { ctimeMs } = await lstat(path).catch(() => ({ ctimeMs: 0 }))
    if (ctimeMs < since) continue
    await rm(path, { force: true })
    said.push(
      `${path} was removed: it is a link that a sandboxed run made, and a later run would follow it out of its folder`,
    )
  }
  return said
}

/** When a home was made, by the clock of its file system. */
async function madeAt(folder: string): Promise<number> {
  return (await lstat(join(folder, recordName)).catch(() => undefined))?.mtimeMs ?? Infinity
}

/** A younger home may belong to a program that is just being started. */
const freshMs = 60_000

/** Settles the homes that exited processes left next to a new one. `inUse` says whether a process still has a home's mark. */
export async function settleLeftHomes(
  folder: string,
  fresh: string,
  inUse: (mark: string) => Promise<boolean>,
): Promise<void> {
  const now = await madeAt(join(folder, fresh))
  for (const name of await readdir(folder).catch(() => [])) {
    const home = join(folder, name)
    if (now - (await madeAt(home)) < freshMs) continue
    const record = await recordIn(home).catch(() => undefined)
    if (record && !(await inUse(record.mark))) await settleHome(home).catch(() => [])
  }
}
