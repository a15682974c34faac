import { realpathSync, promises } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { isMissing } from './files.ts'

/** Resolves the links in a path, even if its last parts do not exist yet. Undefined for a link that leads nowhere. */
export async function realOf(path: string): Promise<string | undefined> {
  try {
    return await promises.realpath(path)
  } catch (error) {
    if (!isMissing(error) || path === dirname(path)) return undefined
    const there = await promises.lstat(path).then(
      () => true,
      () => false,
    )
    if (there) return undefined
    const parent = await realOf(dirname(path))
    return parent === undefined ? undefined : join(parent, basename(path))
  }
}

/** The path behind all links, or undefined if it leads nowhere or cannot be examined. */
export function realIfThere(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

/** The path behind all links, or the path itself if it leads nowhere or cannot be examined. */
export const realOrSame = (path: string): string => realIfThere(path) ?? path

/** Says whether a path is the folder itself or lies below it; both are real paths. */
export function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

/** The folders of a project, from its root down to one of them. */
export function foldersDown(root: string, to: string): string[] {
  const folders: string[] = []
  for (let at = realOrSame(to); at !== root && isWithin(root, at); at = dirname(at)) folders.unshift(at)
  return [root, ...folders]
}
