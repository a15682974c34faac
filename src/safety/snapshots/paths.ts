/** A path below the root as git knows it: bytes, one a character, because names need not be UTF-8. */
export type RawPath = string

export function splitPaths(out: Buffer): RawPath[] {
  return out.toString('latin1').split('\0').slice(0, -1)
}

/** Where a raw path is on disk. */
export function onDisk(root: string, path: RawPath): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, 'latin1')])
}

/** The path in letters, for people and programs to read. */
export function shown(path: RawPath): string {
  return Buffer.from(path, 'latin1').toString('utf8')
}

/** The folder above a path; the root's is empty. */
export function parentOf(path: RawPath): RawPath {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0))
}
