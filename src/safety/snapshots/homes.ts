import type { Env } from './repository.ts'
import { realpathSync } from 'node:fs'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'

/** The store is `<home>/projects/<slug>/snapshots`. */
export function ourHome(dir: string): string {
  return realOr(resolve(dir, '..', '..', '..'))
}

/** What agents work in apart lies in our home, and is a project all the same. */
export function isWorktree(root: string, dir: string): boolean {
  return isWithin(root, join(ourHome(dir), 'worktrees'))
}

/** A tree that nobody would want taken whole: the home, or what holds it. */
export function holdsHome(root: string, env: Env): boolean {
  if (root === resolve('/')) return true
  return env.HOME ? isWithin(realOr(env.HOME), root) : false
}

/** Whether a path is a folder or lies below it. */
export function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

function realOr(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return resolve(path)
  }
}
