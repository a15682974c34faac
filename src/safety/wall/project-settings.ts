import type { Dirent, Stats } from 'node:fs'
import type { WallPart } from './mounts.ts'
import { closeSync, constants, lstatSync, openSync, readdirSync } from 'node:fs'
import { readlinkSync, renameSync, symlinkSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { makeFolder } from '../../base/files.ts'
import { randomName } from '../../base/id.ts'
import { isWithin, realIfThere, realOrSame } from '../../base/real-path.ts'
import { isSettingsName } from './settings-names.ts'

/** The settings of agents and editors in a project, as they were when they were looked for. */
type ProjectSettings = {
  /** Looks through the project, or again through those of its folders that changed, and returns a wall's part. */
  part(): WallPart
  /** Takes the settings at a path, or around it, for the person's own as they are now. */
  accept(path: string): void
}

/** Large folders that no agent or editor is started in. */
const skipped = new Set(['.git', 'node_modules', '.venv', '__pycache__', '.hg', '.svn'])

/** More folders than this are not looked through at first. The search begins at the root and goes down evenly. */
const mostFolders = 10_000

/** Folders that a command makes are looked through as well, so that it cannot hide settings behind many of them. */
const mostNewFolders = 100_000

/** A folder that changed so shortly before it was read may have changed again afterwards with the same modification time. */
const clockStepMs = 20

type Found = Pick<Stats, 'dev' | 'ino'> & { link?: string }

const projects = new Map<string, ProjectSettings>()

type Places = {
  /** The person's home. */
  home: string
  /** The folder that settings are moved to. */
  quarantine: string
}

/**
 * The settings of a project, shared by all walls of this process: what appears while a command runs behind one of them is not
 * taken for the person's own by another. Kept, because only folders that changed are read again.
 */
export function settingsOf(root: string, places: Places): ProjectSettings {
  const key = JSON.stringify([root, places])
  const settings = projects.get(key) ?? projectSettings(root, places)
  projects.set(key, settings)
  return settings
}

/** Keeps settings that were written with the person's permission, also while a command runs behind a wall. */
export function acceptSettings(paths: readonly string[]): void {
  for (const path of paths) for (const settings of projects.values()) settings.accept(realOrSame(path))
}

/**
 * Keeps the settings of agents and editors in a project as they are, and every hidden file of the person's home where that is
 * part of the project. Those that exist become read-only mounts. What does not exist cannot be mounted, so what a command adds
 * is moved to the quarantine after it; nothing is deleted.
 */
function projectSettings(root: string, { home, quarantine }: Places): ProjectSettings {
  /** Every folder of the project with the time of its last change; zero if it may have changed since it was read. */
  const folders = new Map<string, number>()
  const found = new Map<string, Found>()
  /** Settings that a command left and that could not be moved away yet. */
  const left = new Set<string>()
  /** Sentences for the next command that is settled. */
  let told: string[] = []
  let [running, since, whole] = [0, 0, true]
  return { part, accept }

  function part(): WallPart {
    if (running === 0) since = Date.now()
    look(running === 0)
    running += 1
    for (const path of found.keys()) if (!lookAt(path)) found.delete(path)
    const mounts = [...found].flatMap(([path, { link }]) => {
      // A mount on a link would lie on its target; a target outside the project is read-only anyway.
      const real = link === undefined ? path : realIfThere(path)
      return real !== undefined && isWithin(root, real) ? [{ path: real, as: 'read' } as const] : []
    })
    return { mounts, settle: async () => settled() }
  }

  function accept(path: string): void {
    if (!isWithin(root, path)) return
    for (let at = path; at !== root; at = dirname(at)) {
      const now = isKept(dirname(at), basename(at)) ? identify(at) : undefined
      if (!now) continue
      found.set(at, now)
      left.delete(at)
    }
  }

  function settled(): string[] {
    look(false)
    running -= 1
    for (const [path, { link }] of found)
      if (link !== undefined && !lookAt(path) && restoreLink(path, link))
        told.push(`The command removed the link ${relative(root, path)}; it was put back.`)
    const words = told
    told = []
    return words
  }

  /** Takes new settings for the person's own while no command runs, and moves them away otherwise. */
  function look(quiet: boolean): void {
    const known = new Set([...found.values()].map(identity))
    for (const [path, now] of changes()) {
      // The folder around it was renamed: these are the person's own settings in another place.
      const renamed = now.link === undefined && !found.has(path) && known.has(identity(now))
      // In a project that was too large to be looked through, settings that are found late may be older than the command.
      const older = !whole && (lookAt(path)?.ctimeMs ?? 0) < since - clockStepMs
      if (!left.has(path) && (quiet || renamed || older)) found.set(path, now)
      else told.push(`The command left ${relative(root, path)}, ${startsPrograms}; ${moved(path)}.`)
    }
  }

  function moved(path: string): string {
    const place = moveAway(path, quarantine)
    left.delete(path)
    if (place !== undefined) return `it was moved to ${place}`
    // Another command of the turn may be changing the folder: it is looked at again.
    left.add(path)
    folders.set(dirname(path), 0)
    return 'it could not be moved away: read it before you start an agent or an editor there'
  }

  /** Settings that are new, or no longer the same file, in folders that changed since they were last read. */
  function changes(): [string, Found][] {
    const news: [string, Found][] = []
    const first = folders.size === 0
    const queue = first ? [root] : [...folders.keys()]
    for (let at = 0; at < queue.length; at++) {
      const folder = queue[at]!
      const began = Date.now()
      const there = lookAt(folder)
      if (!there?.isDirectory()) {
        folders.delete(folder)
        continue
      }
      if (there.ctimeMs === folders.get(folder)) continue
      folders.set(folder, there.ctimeMs < began - clockStepMs ? there.ctimeMs : 0)
      for (const entry of entriesOf(folder)) {
        const path = join(folder, entry.name)
        if (isKept(folder, entry.name)) {
          const now = identify(path)
          const was = found.get(path)
          if (now && (!was || identity(was) !== identity(now))) news.push([path, now])
        } else if (entry.isDirectory() && !skipped.has(entry.name) && !folders.has(path)) {
          if (queue.length < (first ? mostFolders : mostNewFolders)) queue.push(path)
          else if (first) whole = false
        }
      }
    }
    return news
  }

  function isKept(folder: string, name: string): boolean {
    // The shell and the desktop start programs from hidden files of the home; git's own folder has rules of its own.
    return isSettingsName(name) || (folder === home && name.startsWith('.') && name !== '.git')
  }
}

const startsPrograms = 'from which agents or editors would start programs outside the sandbox'

const identity = ({ dev, ino, link }: Found) => (link === undefined ? `${dev}:${ino}` : `-> ${link}`)

function identify(path: string): Found | undefined {
  const there = lookAt(path)
  if (!there) return undefined
  if (!there.isSymbolicLink()) return { dev: there.dev, ino: there.ino }
  try {
    return { dev: there.dev, ino: there.ino, link: readlinkSync(path) }
  } catch {
    return undefined
  }
}

function lookAt(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false })
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    // A folder that cannot be read, or that is gone.
    return []
  }
}

/**
 * Moves a file into the quarantine, or renames it where that lies on another disk; returns its new place. The folder is held open
 * meanwhile: another command of the turn could replace it by a link to a folder outside the project.
 */
function moveAway(path: string, quarantine: string): string | undefined {
  const name = `${basename(path)}.${randomName()}`
  let place = join(quarantine, name)
  const moved = inFolder(path, (held) => {
    try {
      makeFolder(quarantine)
      renameSync(held, place)
    } catch {
      place = join(dirname(path), name)
      renameSync(held, join(dirname(held), name))
    }
  })
  return moved ? place : undefined
}

function restoreLink(path: string, link: string): boolean {
  return inFolder(path, (held) => symlinkSync(link, held))
}

/** Does something with a file by a path through its open folder; fails if that folder is not where it was. */
function inFolder(path: string, act: (held: string) => void): boolean {
  const folder = dirname(path)
  let fd: number | undefined
  try {
    fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
    if (readlinkSync(`/proc/self/fd/${fd}`) !== folder) return false
    act(`/proc/self/fd/${fd}/${basename(path)}`)
    return true
  } catch {
    return false
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}
