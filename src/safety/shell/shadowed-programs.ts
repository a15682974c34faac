import { isAbsolute, join } from 'node:path'
import { isProgram } from '../../base/program-path.ts'
import { isWithin } from '../../base/real-path.ts'
import { targetOf } from './touched-paths.ts'

/** The file of the project that a shell would run for a name, where PATH leads into the project before the system. */
export function shadowOf(
  name: string,
  path: string | undefined,
  cwds: readonly string[],
  root: string,
): string | undefined {
  for (const entry of path?.split(':') ?? [])
    for (const folder of isAbsolute(entry) ? [entry] : cwds.map((cwd) => join(cwd, entry || '.'))) {
      const file = join(folder, name)
      if (!isProgram(file)) continue
      const target = targetOf(folder)
      return target === undefined || isWithin(root, target) ? file : undefined
    }
  return undefined
}
