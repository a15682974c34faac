import type { Readiness } from '../../core/work/dependencies.ts'
import type { HeldTask, QueuedTask, Task } from '../model/tasks/task.ts'
import type { Pipelines } from './pipelines.ts'
import type { RoundRows } from './rounds/round-rows.ts'
import type { RoundRules } from './rounds/rounds.ts'
import type { SpendingLimits } from './rounds/spending-limits.ts'
import { defined } from '../../base/defined.ts'
import { readinessOf } from '../../core/work/dependencies.ts'
import { lateTask } from './rules/pipeline-rules.ts'
import { check } from './pipelines.ts'
import { cancelTask, failTask, queuedAgain } from './rules/task-moves.ts'
import { isHeld, workOf } from './rules/task-rules.ts'

/** A task fails after it went back to the queue this often without an answer. */
const mostReturns = 5
/** A task fails after this many unacknowledged offers in a row: the waiting agents do not work on their tasks. */
const mostUnheard = 10
/** The most overdue tasks that one round handles. */
const mostOverdue = 200

/** The rules that every round follows besides its wishes. */
export function roundRules({ limits, pipelines }: { limits: SpendingLimits; pipelines: Pipelines }): RoundRules {
  return {
    stopped: (rows) => limits.stopped(rows),

    async sweep(rows) {
      for (const task of rows.tasks.learn(await rows.ledger.overdue(mostOverdue))) overdue(rows, task)
      await limits.turnDays(rows)
      const late = await rows.ledger.overduePipelines()
      await rows.read({ pipelines: late.map(({ pipeline }) => pipeline.id) })
      for (const { pipeline } of late) {
        const known = rows.knownPipeline(pipeline.id)
        if (known) check(rows, known)
      }
      await pipelines.runSchedules(rows)
    },

    /** A consequence may have consequences of its own: a task that fails also fails the tasks that need it, and one that is cancelled also cancels them. */
    async settle(rows) {
      const { moved, over, unsure } = rows.consequences
      while (moved.size + over.size + unsure.size > 0) {
        await pipelines.settle(rows, takeAll(moved))
        const ended = takeAll(over)
        if (ended.length > 0)
          for (const task of rows.tasks.learn(await rows.ledger.dependents(ended))) lookAgain(rows, task)
        await checkNeeds(rows, takeAll(unsure), pipelines)
      }
    },
  }
}

/**
 * Puts a task back into the queue, for the same agent if that agent had begun and no other wish is set. A task that came back too often
 * fails.
 */
export function takeBack(
  rows: RoundRows,
  task: HeldTask,
  by: string,
  why: string,
  { wish }: Pick<Task, 'wish'> = task.state === 'PENDING_ACK' ? task : { wish: task.agent },
): void {
  const begun = task.state !== 'PENDING_ACK'
  // An offer that was not acknowledged may never have arrived, and does not count as a return.
  const returns = begun ? task.returns + 1 : task.returns
  const times = begun ? returns : unacknowledgedOffers(task)
  const move = { at: rows.now, by, returns }
  rows.tasks.replace(
    times <= (begun ? mostReturns : mostUnheard)
      ? queuedAgain(task, defined({ ...move, why, wish }))
      : failTask(task, { ...move, why: `given out ${times} times, and no agent finished it: ${why}` }),
  )
}

/** Handles a task whose time is over: its deadline has passed, its agent was silent for too long, or its pause is over. */
function overdue(rows: RoundRows, task: Task): void {
  const late = lateTask(task, rows.now)
  if (late) rows.tasks.replace(late)
  else if (isHeld(task)) {
    const why = task.state === 'PENDING_ACK' ? 'no agent accepted the task' : 'its agent sent nothing for 30 minutes'
    takeBack(rows, task, 'hub', why)
  } else {
    // The task is checked again when the need, pipeline or pause that still holds it back changes.
    rows.tasks.looked(task.id)
    lookAgain(rows, task)
  }
}

function lookAgain(rows: RoundRows, task: Task): void {
  if (task.state === 'QUEUED') rows.consequences.unsure.add(task.id)
}

/**
 * Marks queued tasks as ready when their needs are done. A task fails if its need failed, and is cancelled if its need was cancelled:
 * nothing went wrong then, so the task neither counts as failed nor asks for a person.
 */
async function checkNeeds(rows: RoundRows, ids: readonly string[], pipelines: Pipelines): Promise<void> {
  const queued = () => ids.flatMap((id) => queuedTask(rows.tasks.known(id)) ?? [])
  await rows.read({ needs: queued().flatMap(({ needs }) => needs) })
  for (const task of queued()) {
    const may = mayGo(rows, task)
    if (may.ready) {
      const begun = await pipelines.begun(rows, task)
      if (begun) rows.tasks.readied(begun)
      else rows.consequences.unsure.delete(task.id)
    } else if ('never' in may) {
      const move = { at: rows.now, by: 'hub', why: may.never }
      rows.tasks.replace(may.cancelled ? cancelTask(task, move) : failTask(task, move))
    }
  }
}

const queuedTask = (task: Task | undefined): QueuedTask | undefined => (task?.state === 'QUEUED' ? task : undefined)

/** Checks only the direct needs: a task is added after the tasks that it needs, so there are no cycles. */
function mayGo(rows: RoundRows, task: QueuedTask): Readiness {
  const get = (id: string) => {
    if (id === task.id) return workOf(task)
    const other = rows.tasks.need(id)
    return other ? { ...workOf(other), needs: [] } : rows.tasks.removedNeed(id)
  }
  return readinessOf(task.id, { get })
}

/** How many times in a row, including now, a task was offered and not acknowledged. */
function unacknowledgedOffers({ history }: Task): number {
  const before = history.findLastIndex(({ state }) => state !== 'PENDING_ACK' && state !== 'QUEUED')
  return history.slice(before + 1).filter(({ state }) => state === 'PENDING_ACK').length
}

function takeAll(set: Set<string>): string[] {
  const all = [...set]
  set.clear()
  return all
}
