import type { Stats } from 'node:fs'
import type { Mount } from './mounts.ts'
import type { FoundSetting, SearchResult } from './project-search.ts'
import type { Quarantined } from './quarantine.ts'
import { lstatSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { onOneLine } from '../../base/text/ansi.ts'
import { isWithin, realIfThere, realOrSame } from '../../base/files/real-path.ts'
import { clockErrorMs } from './project-search.ts'
import { inFolder, putBack, takeAway, withTextName } from './quarantine.ts'
import { fileKind } from '../settings-names.ts'

/** The files of a project from which programs could start by themselves, as they were during the search. */
type ProjectSettings = {
  /** Treats everything that a search found before a command as the person's own, unless another command runs; returns the mounts. */
  begin(found: SearchResult): Mount[]
  /** Moves away the settings that the command left, using a search after it. */
  settle(found: SearchResult): SettledSettings
  /** Treats the settings at a path, or around it, as the person's own in their present state. */
  accept(path: string): void
}

/** The outcome for a command's settings: sentences, and the files that were moved away; `asks` says whether a person has to decide. */
export type SettledSettings = { told: string[]; taken?: Quarantined; asks: boolean }

/** A setting as it was found. For a short file that needs a yes, the content is stored, so that it can be restored. */
type Found = Pick<Stats, 'dev' | 'ino'> & Pick<FoundSetting, 'kind'> & { link?: string; mark?: string; content?: Kept }

type Kept = { bytes: Buffer; mode: number }

const longestKept = 64 * 1024
const mostKept = 16 * 1024 * 1024

const projects = new Map<string, ProjectSettings>()

type Places = {
  /** The person's home. */
  home: string
  /** Termaite's home, with the quarantine in it. */
  own: string
}

/**
 * The settings of a project, shared by all walls of this process: a setting that appears while a command runs behind one wall does not
 * count as the person's own for another.
 */
export function settingsOf(root: string, places: Places): ProjectSettings {
  const key = JSON.stringify([root, places])
  const settings = projects.get(key) ?? projectSettings(root, places)
  projects.set(key, settings)
  return settings
}

/** Accepts settings that were written with the person's permission, even while a command runs behind a wall. */
export function acceptSettings(paths: readonly string[]): void {
  for (const path of paths) for (const settings of projects.values()) settings.accept(realOrSame(path))
}

/**
 * Protects the settings of agents and editors in a project: existing ones become read-only mounts. Other files that need a yes can be
 * written, because builds and git do that, and are compared afterwards. Settings that a command added or changed are then moved to the
 * quarantine, and the earlier content of a short file is restored; nothing is deleted.
 */
function projectSettings(root: string, { home, own }: Places): ProjectSettings {
  const found = new Map<string, Found>()
  /** Settings that a command left and that could not be moved away yet. */
  const left = new Set<string>()
  let [running, since, whole, kept] = [0, 0, true, 0]
  const named = (path: string) => onOneLine(relative(root, path))
  return { begin, settle, accept }

  function begin({ settings, whole: searched }: SearchResult): Mount[] {
    const isQuiet = running === 0
    if (isQuiet) since = Date.now()
    if (isQuiet) whole = searched.old
    running += 1
    const there = new Set(settings.map(({ path }) => path))
    for (const path of found.keys()) if (!there.has(path) && !lookAt(path)) forget(path)
    // While another command runs, new and changed settings are checked when a command is settled.
    if (isQuiet) for (const setting of settings) if (!left.has(setting.path)) remember(setting)
    return [...found].flatMap(([path, { kind, link }]) => {
      if (kind !== 'held') return []
      // A mount on a link would be on its target; a target outside the project is read-only anyway.
      const real = link === undefined ? path : realIfThere(path)
      return real !== undefined && isWithin(root, real) ? [{ path: real, as: 'read' } as const] : []
    })
  }

  function accept(path: string): void {
    if (!isWithin(root, path)) return
    const parts = relative(root, path).split(sep)
    const { kind, at } = root === home && parts[0]!.startsWith('.') ? { kind: 'held' as const, at: 1 } : fileKind(parts)
    if (kind === 'free' || parts.includes('.git')) return
    const place = join(root, ...parts.slice(0, at))
    remember({ path: place, kind })
    left.delete(place)
  }

  function settle({ settings }: SearchResult): SettledSettings {
    running -= 1
    const planted = settings.filter((one) => left.has(one.path) || isPlanted(one))
    const earlier = new Map(planted.flatMap(({ path }) => (found.has(path) ? [[path, found.get(path)!] as const] : [])))
    const { taken, left: stuck } = takeAway(own, root, planted.map(withTextName))
    const told: string[] = []
    for (const { path } of planted) left.delete(path)
    for (const path of stuck) {
      // Another command of the turn may be changing the folder, so it is checked again later.
      left.add(path)
      told.push(
        `The command made or changed ${named(path)}, from which programs could start by themselves, and it could not be moved away: read it before you start an agent or an editor there.`,
      )
    }
    for (const [path, was] of earlier) {
      if (stuck.includes(path)) continue
      if (was.content) putBackContent(path, was.content)
      else if (was.kind === 'asked' && was.link === undefined)
        told.push(
          `The earlier content of ${named(path)} was not kept, because the file is large: git or termaite undo may have it.`,
        )
    }
    for (const [path, { link }] of found)
      if (link !== undefined && !lookAt(path) && inFolder(path, (held) => symlinkSync(link, held)))
        told.push(`The command removed the link ${named(path)}; it was put back.`)
    const isIn = (path: string) => planted.find((one) => one.path === path)?.inBuilt === true
    const asks = taken?.files.some((file) => !isIn(join(root, file))) === true
    return { told, asks, ...(taken && { taken }) }
  }

  /**
   * Whether a setting is new, or differs from the one before the command. A setting that was moved is new, because other programs read it
   * in its new folder.
   */
  function isPlanted(setting: FoundSetting): boolean {
    const { path } = setting
    const now = identify(setting)
    const was = found.get(path)
    if (!now) return false
    if (was && isSame(was, now)) return false
    if (was?.content && isUnchanged(path, was.content)) {
      remember(setting)
      return false
    }
    // In a project that was too large to be searched, settings that are found late may be older than the command.
    const isOlder = !was && !whole && (lookAt(placeOf(setting))?.ctimeMs ?? 0) < since - clockErrorMs
    if (isOlder) remember(setting)
    return !isOlder
  }

  function remember(setting: Named): void {
    const { path, kind, bytes } = setting
    const was = found.get(path)
    const now = identify(setting)
    if (was && now && isSame(was, now)) return
    forget(path)
    if (!now) return
    const content = kind === 'asked' && now.link === undefined && !bytes ? contentOf(path) : undefined
    const isKept = content !== undefined && kept + content.bytes.length <= mostKept
    if (isKept) kept += content.bytes.length
    found.set(path, isKept ? { ...now, content } : now)
  }

  function forget(path: string): void {
    kept -= found.get(path)?.content?.bytes.length ?? 0
    found.delete(path)
  }

  function putBackContent(path: string, { bytes, mode }: Kept): void {
    const isBack = inFolder(path, (held) => writeFileSync(held, bytes, { flag: 'wx', mode }))
    if (isBack) remember({ path, kind: 'asked' })
    else forget(path)
  }
}

/** Puts those of the removed files back that the person wants. Returns the paths that could not be restored. */
export function keepTaken(own: string, taken: Quarantined): string[] {
  const { back, left } = putBack(own, taken)
  acceptSettings(back)
  return left
}

const isSame = (a: Found, b: Found) =>
  a.link === undefined
    ? a.dev === b.dev && a.ino === b.ino && a.link === b.link && a.mark === b.mark
    : a.link === b.link

type Named = Pick<FoundSetting, 'path' | 'kind' | 'bytes'>

/** The place of a setting for the system, which also finds a name that is not text. */
const placeOf = ({ path, bytes }: Named) => (bytes ? Buffer.concat([Buffer.from(`${dirname(path)}/`), bytes]) : path)

function identify(setting: Named): Found | undefined {
  const { kind } = setting
  const place = placeOf(setting)
  const there = lookAt(place)
  if (!there) return undefined
  const { dev, ino, ctimeMs, size } = there
  // A held setting cannot be written, so the same file has the same content. A folder's time changes with its content.
  const isMarked = kind === 'asked' && !there.isDirectory()
  if (!there.isSymbolicLink()) return { dev, ino, kind, ...(isMarked && { mark: `${ctimeMs} ${size}` }) }
  try {
    return { dev, ino, kind, link: readlinkSync(place) }
  } catch {
    return undefined
  }
}

function contentOf(path: string): Kept | undefined {
  const there = lookAt(path)
  if (!there?.isFile() || there.size > longestKept) return undefined
  try {
    return { bytes: readFileSync(path), mode: there.mode & 0o777 }
  } catch {
    return undefined
  }
}

function isUnchanged(path: string, { bytes, mode }: Kept): boolean {
  const now = contentOf(path)
  return now !== undefined && now.mode === mode && now.bytes.equals(bytes)
}

function lookAt(path: string | Buffer): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
