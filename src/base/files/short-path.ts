import { isAbsolute, relative } from 'node:path'

/** Returns a path relative to a folder; a path outside of the folder stays absolute. */
export function shortPath(path: string, cwd: string): string {
  if (!isAbsolute(path)) return path
  const short = relative(cwd, path)
  return short === '' || short.startsWith('..') ? path : short
}
