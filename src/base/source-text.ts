import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * A text that is kept beside the source it belongs to, by its path under `src`; the build lays them out alike under `dist`.
 * From a file of `src/base` and from a chunk of the bundle that is one folder up, from the bundle's first file it is right here.
 */
export function sourceText(path: string, here = import.meta.dirname): string {
  const near = join(here, path)
  return readFileSync(existsSync(near) ? near : join(here, '..', path), 'utf8')
}
