import type { FileStat, Kept, Snapshots } from '../safety/snapshots.ts'
import { Off } from '../safety/snapshots.ts'
import { UsageError } from './io.ts'
import { table } from './table.ts'

/** The turn a person means: the last one that changed something and still stands, or the one that begins with what was typed. */
export async function turnNamed(snapshots: Snapshots, typed: string | undefined): Promise<Kept> {
  const turns = await orWords(snapshots.list())
  if (turns.length === 0) throw new UsageError('no turn was seen to change this project yet.', 1)
  if (typed === undefined) return lastChange(turns) ?? turns.at(-1)!
  const matching = turns.filter(({ turn }) => turn.startsWith(typed))
  if (matching.length === 1) return matching[0]!
  throw new UsageError(
    matching.length === 0
      ? `no turn begins with "${typed}". \`termaite diff --list\` shows them.`
      : `${matching.length} turns begin with "${typed}": give more of it.`,
  )
}

/** Where snapshots are switched off, that is told as it is. */
export async function orWords<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw error instanceof Off ? new UsageError(`there are no snapshots here: ${error.message}.`, 1) : error
  }
}

export function statText(stat: readonly FileStat[]): string {
  return table(stat.map(({ status, file, added, removed }) => [status, file, `+${added} −${removed}`]))
}

function lastChange(oldestFirst: readonly Kept[]): Kept | undefined {
  const undone = new Set<string>()
  return oldestFirst.toReversed().find((kept) => {
    if (kept.undoes !== undefined && !undone.has(kept.turn)) undone.add(kept.undoes)
    return kept.undoes === undefined && !undone.has(kept.turn) && kept.before !== kept.after
  })
}
