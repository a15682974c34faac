import { lstat, realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { isMissing } from '../../base/files.ts'

/** The real path of a file in a project, whether it is there yet or not; undefined when it leads out of it. */
export async function inside(root: string, path: string): Promise<string | undefined> {
  if (!isAbsolute(path)) return undefined
  const real = await realOf(resolve(path))
  return real !== undefined && (real === root || real.startsWith(root + sep)) ? real : undefined
}

/** Whether a change of it can make a program run: what Git keeps is no file of the project. */
export function isGits(root: string, real: string): boolean {
  return relative(root, real).split(sep).includes('.git')
}

/** Links are followed up to the last part that exists; one that points nowhere leads nowhere. */
async function realOf(path: string): Promise<string | undefined> {
  try {
    return await realpath(path)
  } catch (error) {
    if (!isMissing(error) || path === dirname(path)) return undefined
    const there = await lstat(path).then(
      () => true,
      () => false,
    )
    if (there) return undefined
    const parent = await realOf(dirname(path))
    return parent === undefined ? undefined : join(parent, basename(path))
  }
}
