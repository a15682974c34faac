import { isAbsolute, relative } from 'node:path'

/** A path as a person in that folder would say it; what lies outside stays as it is. */
export function shortPath(path: string, cwd: string): string {
  if (!isAbsolute(path)) return path
  const short = relative(cwd, path)
  return short === '' || short.startsWith('..') ? path : short
}
