import type { Kept, KeptTurns } from './kept.ts'
import type { Limits } from './limits.ts'
import type { RecentTrees } from './recent.ts'
import type { Repository } from './repository.ts'
import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { stamp, stampedAt } from './recent.ts'

export type Shelves = { repository: Repository; turns: KeptTurns; recent: RecentTrees; limits: Limits }

const day = 24 * 3_600_000
const fewestRecent = 8

/** Whether the store should be looked through: once a day, or when there are many turns too many. */
export function isDue({ repository, turns, limits }: Shelves, now: number): boolean {
  const last = stampedAt(join(repository.dir, 'tidied'))
  return last === undefined || now - last > day || turns.count() > limits.turns * 1.25
}

/** Drops the oldest turns above the limits, and then the objects that nothing needs. */
export async function tidy({ repository, turns, recent, limits }: Shelves, now: number): Promise<void> {
  stamp(join(repository.dir, 'tidied'), now)
  clearWork(join(repository.dir, 'work'), now - day)
  const kept = turns.list()
  const drop = (count: number) => {
    for (const { turn } of kept.splice(0, count)) {
      turns.drop(turn)
      rmSync(asideFolder(repository.dir, turn), { recursive: true, force: true })
    }
  }
  drop(Math.max(0, kept.length - limits.turns))
  recent.forget(now - day, fewestRecent)
  await prune(repository, kept, recent)
  let size = await stored(repository)
  while (size > limits.stored && kept.length > 1) {
    drop(Math.ceil(kept.length / 4))
    recent.forget(Infinity, fewestRecent)
    await prune(repository, kept, recent)
    const left = await stored(repository)
    // What was written a moment ago is not pruned yet: more turns would be dropped in vain.
    if (left >= size) return
    size = left
  }
}

/** Where an undo puts what later changes had left in its way. */
export function asideFolder(dir: string, undo: string): string {
  return join(dir, 'aside', encodeURIComponent(undo))
}

/** The grace is for takes under way in other processes, which have objects but no tree yet. */
async function prune(repository: Repository, kept: readonly Kept[], recent: RecentTrees): Promise<void> {
  const trees = kept.flatMap(({ before, after }) => [before, ...(after === undefined ? [] : [after])])
  await repository.git(['prune', '--expire=5.minutes.ago', '--', ...new Set([...trees, ...recent.list()])])
}

async function stored(repository: Repository): Promise<number> {
  const { out } = await repository.git(['count-objects', '-v'])
  const sizes = [...out.toString().matchAll(/^size(?:-pack)?: (\d+)$/gm)]
  return sizes.reduce((sum, [, kilobytes]) => sum + Number(kilobytes) * 1024, 0)
}

/** What a killed process left in the work folder; a link's own age is when it was made, not when it was written. */
function clearWork(folder: string, before: number): void {
  for (const name of readdirSync(folder)) {
    const made = statSync(join(folder, name), { throwIfNoEntry: false })?.ctimeMs ?? 0
    if (made < before) rmSync(join(folder, name), { recursive: true, force: true })
  }
}
