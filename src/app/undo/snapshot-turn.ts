import type { FileStat, TurnRecord, Snapshots } from '../../safety/snapshots.ts'
import type { Project } from '../project.ts'
import { SnapshotsOff } from '../../safety/snapshots.ts'
import { UsageError } from '../../core/io.ts'
import { table } from '../../base/table.ts'

/** The turn a person means: the one whose name begins with what was typed, or `usual` when nothing was. */
export async function turnNamed(
  { snapshots, project }: { snapshots: Snapshots; project: Project },
  typed: string | undefined,
  usual: (oldestFirst: readonly TurnRecord[]) => TurnRecord,
): Promise<TurnRecord> {
  const turns = await orUsage(snapshots.list())
  if (turns.length === 0) throw new UsageError(await whyNone(project), 1)
  if (typed === undefined) return usual(turns)
  const matching = turns.filter(({ turn }) => turn.startsWith(typed))
  if (matching.length === 1) return matching[0]!
  throw new UsageError(
    matching.length === 0
      ? `no turn begins with "${typed}". \`termaite diff --list\` shows them.`
      : `${matching.length} turns begin with "${typed}": give more of it.`,
  )
}

/** Without a turn there is a reason, and it may be that snapshots are off here. */
export async function whyNone(project: Project): Promise<string> {
  const { snapshotsOff } = await project.doc.read()
  return snapshotsOff === undefined
    ? 'no turn was seen in this project yet.'
    : `diff and undo are off in this project: ${snapshotsOff}.`
}

/** Where snapshots are switched off, that is told as it is. */
export async function orUsage<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw error instanceof SnapshotsOff ? new UsageError(`there are no snapshots here: ${error.message}.`, 1) : error
  }
}

export function statText(stat: readonly FileStat[]): string {
  return table(stat.map(({ status, file, added, removed }) => [status, file, `+${added} −${removed}`]))
}
