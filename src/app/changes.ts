import type { Snapshots } from '../safety/snapshots.ts'

/** Says which files changed since it was asked last; the first time, since the tree the turn began with. */
export function changesFrom(snapshots: Snapshots, begun: () => string | undefined): () => Promise<string[]> {
  let last: string | undefined
  return async () => {
    const since = last ?? begun()
    if (since === undefined) throw new Error('there is no tree to compare with')
    const now = await snapshots.take()
    if ('off' in now) throw new Error(now.off)
    last = now.tree
    return snapshots.changed(since, now.tree)
  }
}
