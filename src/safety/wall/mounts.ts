import { dirname } from 'node:path'

/**
 * The appearance of one place behind a wall: readable, writable, an empty folder (`empty`), a file without content (`blank`), a folder
 * that only contains other mounts (`folder`), a folder for files that may be lost (`temporary`), or a link. Paths are real paths. If
 * mounts are nested, the innermost one decides.
 */
export type Mount = {
  path: string
  as: 'read' | 'write' | 'empty' | 'blank' | 'folder' | 'temporary' | 'link'
  /** The folder of the host that is shown at the path; the path itself if missing. For a link, its target. */
  from?: string
  /** Whether the place shows nothing of the host, so that nothing below it has to be hidden. */
  private?: boolean
}

/**
 * Orders mounts so that each one comes after the folder around it. Of several mounts at one path, the last one counts. Places that are
 * not visible anyway are not hidden, nothing is shown twice, and no link is created where the host's own is visible. `bare`: whether
 * nothing of the host is visible outside all mounts.
 */
export function layerMounts(mounts: readonly Mount[], { bare }: { bare: boolean }): Mount[] {
  const byPath = new Map(mounts.map((mount) => [mount.path, mount]))
  const depth = ({ path }: Mount) => (path === '/' ? 0 : path.split('/').length)
  const sorted = [...byPath.values()].sort((a, b) => depth(a) - depth(b) || (a.path < b.path ? -1 : 1))
  // Only mounts that are kept affect those inside them.
  const kept = new Map<string, Mount>()
  for (const mount of sorted) {
    const outer = mount.path === '/' ? undefined : around(mount.path, kept)
    const isSeen = outer ? isShown(outer) : !bare
    const isRead = outer?.as === 'read' && isSeen && outer.from === undefined
    if (isNeeded(mount, isSeen, isRead)) kept.set(mount.path, mount)
  }
  return [...kept.values()]
}

/** Whether a mount changes anything: the wall may already show the place, or make it readable. */
function isNeeded({ as, from }: Mount, isSeen: boolean, isRead: boolean): boolean {
  if (as === 'empty' || as === 'blank') return isSeen
  if (as === 'link' || as === 'folder') return !isSeen
  return as !== 'read' || from !== undefined || !isRead
}

/** Whether a place of the host is visible through the innermost mount at or around it. */
export function isSeenIn(mounts: readonly Mount[], path: string): boolean {
  const mount = around(path, new Map(mounts.map((one) => [one.path, one])), path)
  return mount !== undefined && isShown(mount)
}

/** Whether a place exists behind the wall, with the host's content or with the command's own. */
export function isThereIn(mounts: readonly Mount[], path: string): boolean {
  const mount = around(path, new Map(mounts.map((one) => [one.path, one])), path)
  return mount?.as === 'read' || mount?.as === 'write' || mount?.as === 'temporary'
}

/** Whether the host's own place can be written behind the wall. */
export const isWrittenIn = (mounts: readonly Mount[], path: string): boolean =>
  around(path, new Map(mounts.map((one) => [one.path, one])), path)?.as === 'write'

const isShown = ({ as, private: own }: Mount) => (as === 'read' || as === 'write') && own !== true

function around(path: string, byPath: ReadonlyMap<string, Mount>, from = dirname(path)): Mount | undefined {
  for (let at = from; ; at = dirname(at)) {
    const mount = byPath.get(at)
    if (mount || at === '/') return mount
  }
}
