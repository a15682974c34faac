import type { Dirent } from 'node:fs'
import { lstatSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isWithin, realIfThere } from '../../base/real-path.ts'

/** A git folder. One of a worktree (`linked`) has no objects and no settings of its own; a `bare` one lies among the project's files. */
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
  const to = textOf(file)
    .replace(/^gitdir:/, '')
    .trim()
  return to === '' ? undefined : realIfThere(resolve(dirname(file), to))
}

/** Removes a path if it is there, and if its folder is really below `root`: a link could have been put in its way. */
export function remove(root: string, path: string): boolean {
  if (!isThere(path)) return false
  const folder = realIfThere(dirname(path))
  if (folder === undefined || !isWithin(realpathSync(root), folder)) return false
  rmSync(path, { recursive: true, force: true })
  return true
}

export const isThere = (path: string) => lstatSync(path, { throwIfNoEntry: false }) !== undefined

export function textOf(path: string): string {
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
