import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Reads a text that lies beside the source code that uses it, by its path under `src`; the build copies it to the same path
 * under `dist`. Seen from `src/base` and from a chunk of the bundle that path is one folder up; from the bundle's main file it is here.
 */
export function sourceText(path: string, here = import.meta.dirname): string {
  const near = join(here, path)
  return readFileSync(existsSync(near) ? near : join(here, '..', path), 'utf8')
}
