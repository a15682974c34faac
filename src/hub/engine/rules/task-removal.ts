import type { HubLedger, LedgerRound, TaskRow } from '../../model/hub-ledger.ts'
import type { Prunable, Pruned } from '../../model/tasks/removed-tasks.ts'
import { setImmediate as breath } from 'node:timers/promises'
import { emptyWrites } from '../../model/hub-ledger.ts'
import { isFinished } from './task-rules.ts'

/** The most tasks that one round removes; a pipeline that begins among them is removed as a whole. */
const mostTasks = 200

/**
 * Removes finished tasks that nobody has touched for a time. Each part is a round of its own, so that the hub answers requests in
 * between. Several hubs may remove at once, each of them different tasks.
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
    // A ledger in a file answers synchronously: this lets requests that arrived meanwhile go first.
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
  // Just before this, another round may have started to need one of the tasks. Now that the rows are locked, no round can.
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
