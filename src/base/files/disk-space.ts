import { statfsSync } from 'node:fs'

/** The bytes that an ordinary user can still write where a path is; undefined if the system does not tell. */
export function freeBytes(path: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(path)
    return bavail * bsize
  } catch {
    return undefined
  }
}
