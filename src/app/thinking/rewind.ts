import type { Rewind } from '../../mind/think/minds.ts'
import type { Snapshots } from '../../safety/snapshots.ts'

/** The project's files in time, where there are snapshots of them. */
export function rewindOf(snapshots: Snapshots, mask: (text: string) => string): Rewind {
  return {
    async mark() {
      const taken = await snapshots.take()
      return 'tree' in taken ? taken.tree : undefined
    },
    async since(mark) {
      const { patch, stat, tree } = await snapshots.since(mark)
      return { patch: mask(patch), files: stat.map(({ file }) => file), seen: tree }
    },
    async back(mark, seen) {
      return (await snapshots.restore(mark, seen)).map(({ path, why }) => `${path} (${why})`)
    },
  }
}
