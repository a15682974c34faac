import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The place of a file that lies beside the source code that uses it, by its path under `src`; the build puts it at the same
 * path under `dist`. Seen from `src/base` and from a chunk of the bundle that path is one folder up; from the bundle's main file it is here.
 */
export function sourcePath(path: string, here = import.meta.dirname): string {
  const near = join(here, path)
  return existsSync(near) ? near : join(here, '..', path)
}

export const sourceText = (path: string, here?: string): string => readFileSync(sourcePath(path, here), 'utf8')
