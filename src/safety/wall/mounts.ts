import { dirname } from 'node:path'

/**
 * How one place looks from behind a wall: readable, writable, an empty folder (`empty`), or a file without content (`blank`).
 * Paths are real paths. Where mounts lie inside each other, the innermost one decides.
 */
export type Mount = {
  path: string
  as: 'read' | 'write' | 'empty' | 'blank'
  /** The folder of the host that is shown at the path; the path itself if there is none. */
  from?: string
  /** Whether the place shows nothing of the host, so that nothing below it has to be hidden. */
  private?: boolean
}

/** Orders mounts so that each one comes after the folder around it. Of several mounts at one path, the last one counts. */
export function layered(mounts: readonly Mount[]): Mount[] {
  const byPath = new Map(mounts.map((mount) => [mount.path, mount]))
  const depth = ({ path }: Mount) => (path === '/' ? 0 : path.split('/').length)
  const sorted = [...byPath.values()].sort((a, b) => depth(a) - depth(b) || (a.path < b.path ? -1 : 1))
  return sorted.filter((mount) => !isHidden(mount) || !isPrivate(around(mount.path, byPath)))
}

const isHidden = ({ as }: Mount) => as === 'empty' || as === 'blank'

const isPrivate = (mount: Mount | undefined) => mount?.as === 'empty' || mount?.private === true

function around(path: string, byPath: ReadonlyMap<string, Mount>): Mount | undefined {
  for (let at = dirname(path); ; at = dirname(at)) {
    const mount = byPath.get(at)
    if (mount || at === '/') return mount
  }
}
