import type { Dirent } from 'node:fs'
import { chmodSync, lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync, statSync } from 'node:fs'
import { writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isThere, lookAt } from '../../base/files/files.ts'
import { pointer } from '../../base/files/git.ts'
import { isWithin, realIfThere } from '../../base/files/real-path.ts'

/**
 * A git folder. A `linked` one belongs to a worktree and has no objects and settings of its own; a `bare` one is among the project's
 * files.
 */
export type GitPlace = { path: string; linked?: boolean; bare?: boolean }

/** The git folders of submodules. Their names may have slashes, and they may have submodules themselves. */
export function modulesIn(folder: string, depth = 0): string[] {
  if (depth > 6) return []
  return entriesIn(folder).flatMap(({ name }) => {
    const path = join(folder, name)
    if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return []
    if (!isThere(join(path, 'HEAD'))) return modulesIn(path, depth + 1)
    return [path, ...modulesIn(join(path, 'modules'), depth + 1)]
  })
}

/** The git folder that a file `.git` names, as a real path. */
export function pointedFolder(file: string): string | undefined {
  try {
    return realIfThere(resolve(dirname(file), pointer(fileText(file))))
  } catch {
    return undefined
  }
}

/**
 * Removes a path if it exists and if its folder is really below `root`, because a link could have been put on the way. A command may have
 * made the folders inaccessible; they are opened first.
 */
export function remove(root: string, path: string): boolean {
  if (!isThere(path)) return false
  const folder = realIfThere(dirname(path))
  if (folder === undefined || !isWithin(realpathSync(root), folder)) return false
  try {
    rmSync(path, { recursive: true, force: true })
  } catch {
    open(folder)
    openAll(path)
    rmSync(path, { recursive: true, force: true })
  }
  return true
}

/** Lets this user list and change a folder of their own. */
function open(folder: string): void {
  const there = lookAt(folder)
  if (!there?.isDirectory() || there.uid !== process.getuid?.()) return
  try {
    chmodSync(folder, (there.mode & 0o777) | 0o700)
  } catch {
    // The folder was replaced in the meantime. The caller's own access to it then fails, and reports the reason.
    return
  }
}

function openAll(path: string): void {
  if (!lookAt(path)?.isDirectory()) return
  open(path)
  for (const entry of entriesIn(path)) if (entry.isDirectory()) openAll(join(path, entry.name))
}

/** The entries of a folder; one that cannot be listed is made listable first, if `mayOpen`. Undefined if it stays closed. */
export function openedEntries(folder: string, mayOpen = true): Dirent[] | undefined {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if (!['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) return []
    if (!mayOpen) return undefined
    open(folder)
    return openedEntries(folder, false)
  }
}

/**
 * The links in a git folder, except in its own folders `without` and among its objects, which git never writes in place. Git would write
 * through other links to any target: a log, a message, a ref. Branches may have any name, even `hooks/x` or `ab/x`.
 */
export function linksIn(folder: string, without: readonly string[], mayOpen = false, way = ''): Map<string, string> {
  const found = new Map<string, string>()
  for (const entry of openedEntries(join(folder, way), mayOpen) ?? []) {
    const name = join(way, entry.name)
    if (entry.isSymbolicLink()) found.set(join(folder, name), readlinkSync(join(folder, name)))
    else if (entry.isDirectory() && !without.includes(name) && !/^objects\/[0-9a-f]{2}$/.test(name))
      for (const [one, to] of linksIn(folder, without, mayOpen, name)) found.set(one, to)
  }
  return found
}

const plans = ['rebase-merge/git-rebase-todo', 'rebase-merge/git-rebase-todo.backup', 'rebase-merge/done']

/** The plan of a stopped rebase. */
export const planOf = (folder: string) => new Map(plans.map((name) => [name, fileText(join(folder, name))]))

/** Removes commands from the plan of a rebase: the person's `git rebase --continue` would run them outside. */
export function withoutPrograms(folder: string, before: ReadonlyMap<string, string>): string[] {
  return plans.slice(0, 2).flatMap((name) => {
    const path = join(folder, name)
    const now = fileText(path)
    const lines = now.split('\n')
    const left = lines.filter((line) => !/^\s*(?:x|exec)\b/.test(line))
    if (now === before.get(name) || left.length === lines.length) return []
    writeFileSync(path, left.join('\n'))
    return [`The command left a rebase that would run programs (${path}); its exec lines were removed.`]
  })
}

function fileText(path: string): string {
  try {
    return statSync(path).isFile() ? readFileSync(path, 'utf8') : ''
  } catch {
    return ''
  }
}

export function entriesIn(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}
