import { statfsSync } from 'node:fs'

/** How many bytes an ordinary user can still write on the disk of a path; undefined if the system does not report it. */
export function freeBytes(path: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(path)
    return bavail * bsize
  } catch {
    return undefined
  }
}
