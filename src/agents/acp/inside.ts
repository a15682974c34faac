import { isAbsolute, relative, resolve, sep } from 'node:path'
import { realOf } from '../../base/real-path.ts'

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
