import type { HubLedger, LedgerRound, TaskRow } from '../../model/hub-ledger.ts'
import type { Prunable, Pruned } from '../../model/tasks/retention.ts'
import { setImmediate as breath } from 'node:timers/promises'
import { emptyWrites } from '../../model/hub-ledger.ts'
import { isFinished } from './task-rules.ts'

/** The most tasks that one round looks at; a pipeline that begins among them is removed as a whole. */
const mostTasks = 200

/**
 * Removes finished tasks that nobody has touched for a time, in rounds of the ledger: other rounds come in between, so that the hub keeps
 * serving. Several hubs may remove at once, each of them different tasks.
 */
export class Retention {
  #ledger: HubLedger

  constructor(ledger: HubLedger) {
    this.#ledger = ledger
  }

  /** Counts everything that repeated calls of `removeSome` would remove. */
  prunable(keptMs: number): Promise<Prunable> {
    return this.#ledger.prunable(keptMs)
  }

  /** Removes some of the tasks that were last touched more than `keptMs` ago. */
  async removeSome(keptMs: number): Promise<Pruned> {
    // A ledger in a file answers without a pause: requests that came in meanwhile go first.
    await breath()
    const pruned = await this.#ledger.round((round) => removeExpired(round, keptMs))
    if (!pruned.more) await this.#ledger.shrink?.()
    return pruned
  }

  /** Removes all tasks that are old enough, until the signal aborts. */
  async removeAll(keptMs: number, signal: AbortSignal): Promise<void> {
    for (let more = true; more && !signal.aborted;) ({ more } = await this.removeSome(keptMs))
  }
}

async function removeExpired(round: LedgerRound, keptMs: number): Promise<Pruned> {
  const found = await round.expired(keptMs, mostTasks)
  const named = [...new Set(found.flatMap(({ task }) => task.pipeline?.id ?? []))]
  const theirs = named.length === 0 ? [] : await round.tasksOf(named)
  const rows = [...new Map([...found, ...theirs].map((row) => [row.task.id, row])).values()]
  // Another round may have come to need one of the tasks just before. From now on none can, because the rows are locked.
  const needed = new Set(await round.needed(rows.map(({ task }) => task.id)))
  const isOver = ({ task, touched }: TaskRow) =>
    isFinished(task) && !task.merging && touched < round.steady - keptMs && !needed.has(task.id)
  const kept = new Set(rows.flatMap((row) => (isOver(row) ? [] : (row.task.pipeline?.id ?? []))))
  const gone = rows.filter((row) => isOver(row) && !kept.has(row.task.pipeline?.id ?? ''))
  if (gone.length === 0) return { tasks: 0, pipelines: 0, more: false }
  const at = round.now
  const tasks = gone.map(({ task }) => task.id)
  const pipelines = named.filter((id) => !kept.has(id))
  await round.write({
    ...emptyWrites,
    removed: gone.map(({ task }) => ({ id: task.id, state: task.state, at, keptMs })),
    removedPipelines: pipelines,
    changes: [{ at, type: 'removed', tasks, pipelines }],
  })
  return { tasks: tasks.length, pipelines: pipelines.length, more: found.length === mostTasks }
}
