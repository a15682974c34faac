import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The place of a file that is next to the source code that uses it, by its path under `src`; the build puts it at the same path under
 * `dist`. Relative to `src/base` and to a chunk of the bundle that path is one folder up; relative to the bundle's main file it is in the
 * same folder.
 */
export function sourcePath(path: string, here = import.meta.dirname): string {
  const near = join(here, path)
  return existsSync(near) ? near : join(here, '..', path)
}

export const sourceText = (path: string, here?: string): string => readFileSync(sourcePath(path, here), 'utf8')
