import type { Spent } from '../../../core/work/budget.ts'
import type { SpendingCaps, WorkspaceDay } from '../../model/tasks/spending-cap.ts'
import type { BlockedTask, HeldTask, QueuedTask, Task } from '../../model/tasks/task.ts'
import type { RoundRows } from './round-rows.ts'
import { defined } from '../../../base/defined.ts'
import { localTime } from '../../../base/time/local-time.ts'
import {
  addSpent,
  capOptions,
  capWords,
  dayLimit,
  dayOptions,
  dayStop,
  passedCap,
  raisedCap,
  spentOn,
} from '../../model/tasks/spending-cap.ts'
import { cancelTask, addNote, pauseTask, queuedAgain, withCap } from '../rules/task-moves.ts'
import { pickedForCap } from '../rules/question-picks.ts'
import { HubError, isHeld } from '../rules/task-rules.ts'

/**
 * Enforces the caps of tasks and workspaces. An agent reports its usage afterwards, so a cap is passed by one report at most: then the
 * task is paused, or no further task of the workspace begins, and a person is asked.
 */
export class SpendingLimits {
  #caps: SpendingCaps

  constructor(caps: SpendingCaps) {
    this.#caps = caps
  }

  /** The cap of a task that does not name one. */
  get taskCap(): SpendingCaps['task'] {
    return this.#caps.task
  }

  /** Pauses a task that has passed its cap; `last` is the report with which it passed. */
  check(rows: RoundRows, task: Task, last?: Spent): void {
    const { cap, allowed = cap } = task
    const spent = spentOn(task)
    const passed = allowed && passedCap(spent, allowed)
    if (cap === undefined || passed === undefined) return
    const at = rows.now
    const options = capOptions(capWords(raisedCap(spent, cap, allowed)), 'task')
    const question = `The task has ${passed}. ${lastWords(task, last)}How should it go on?`
    // Reports that were on their way when the task was paused are added to the question, so that a person decides knowing the whole sum.
    if (task.state === 'BLOCKED' && task.options)
      rows.tasks.replace<BlockedTask>({ ...task, why: passed, question, options })
    else if (task.state === 'QUEUED' || isHeld(task))
      rows.tasks.replace(pauseTask(task, { at, why: passed, question, options }))
    else if (last)
      rows.tasks.replace(
        addNote(task, rows.note('hub', 'comment', `The task has ${passed}. ${lastWords(task, last)}`.trim())),
      )
  }

  /** Applies the answer to the question about a cap: the task continues with the same agent, or is cancelled. */
  answer(
    rows: RoundRows,
    task: BlockedTask & { options: NonNullable<BlockedTask['options']> },
    picks: readonly string[],
    by: string,
  ): void {
    const pick = pickedForCap(task.options, picks)
    const at = rows.now
    if (pick === 'stop') {
      rows.tasks.replace(cancelTask(task, { at, by, why: `stopped: ${task.why}` }))
      return
    }
    const note = rows.note(by, 'answer', task.options.find(({ id }) => id === pick)!.label)
    const queued: QueuedTask = queuedAgain(task, { at, by, note, wish: task.agent })
    const { cap = {}, allowed } = task
    rows.tasks.replace(
      pick === 'uncapped' ? withCap(queued, undefined) : withCap(queued, cap, raisedCap(spentOn(task), cap, allowed)),
    )
  }

  /** If a task that a person retries has used up its cap, allows it the same amount again. */
  renewed(rows: RoundRows, task: QueuedTask, by: string): QueuedTask {
    const { cap, allowed = cap } = task
    const spent = spentOn(task)
    if (!cap || !allowed || passedCap(spent, allowed) === undefined) return task
    const next = raisedCap(spent, cap, allowed)
    const text = `Tried again with the same amount on top, up to ${capWords(next)}.`
    return withCap(addNote(task, rows.note(by, 'comment', text)), cap, next)
  }

  /** Adds a report to the day of a workspace. */
  spend(rows: RoundRows, workspace: string, more: Spent): void {
    const day = this.#today(rows, workspace)
    this.#keepDay(rows, { ...day, spent: addSpent(day.spent, more) })
  }

  /** The stored days that are today's, with the cap of the current settings. */
  today(days: readonly WorkspaceDay[], now: number): WorkspaceDay[] {
    const today = dayAt(now)
    return days.flatMap((day) => (day.day === today ? [this.#capped(day)] : []))
  }

  /** The workspaces in which no further task may begin today. */
  async stopped(rows: RoundRows): Promise<string[]> {
    if (this.#caps.day === undefined) return []
    return this.today(await rows.days(), rows.now)
      .filter((day) => dayStop(day) !== undefined)
      .map(({ workspace }) => workspace)
  }

  answerDay(rows: RoundRows, workspace: string, picks: readonly string[], by: string): WorkspaceDay {
    const day = this.#today(rows, workspace)
    const limit = dayLimit(day)
    if (!day.cap || !limit || passedCap(day.spent, limit) === undefined)
      throw new HubError('conflict', `${workspace} has not passed its cap for today, so there is nothing to answer.`)
    const next = raisedCap(day.spent, day.cap, limit)
    const pick = pickedForCap(dayOptions(day), picks)
    const { asked: _, answer: __, ...rest } = day
    const kept = pick === 'again' ? { ...rest, allowed: next, by } : { ...rest, answer: pick, by }
    this.#keepDay(rows, kept)
    return kept
  }

  /** Begins a new day for every workspace whose day is over, so that followers of the hub see that its tasks may begin again. */
  async turnDays(rows: RoundRows): Promise<void> {
    const today = dayAt(rows.now)
    const over = (await rows.days()).filter(
      ({ day, asked, answer }) => day !== today && (asked ?? answer) !== undefined,
    )
    await rows.read({ days: over.map(({ workspace }) => workspace) })
    for (const { workspace } of over) this.#keepDay(rows, this.#today(rows, workspace))
  }

  #today(rows: RoundRows, workspace: string): WorkspaceDay {
    const day = dayAt(rows.now)
    const known = rows.day(workspace)
    return this.#capped(known?.day === day ? known : { workspace, day, spent: { tokens: 0 } })
  }

  /** Applies the cap of the current settings to a day. */
  #capped(day: WorkspaceDay): WorkspaceDay {
    return defined({ ...day, cap: this.#caps.day })
  }

  #keepDay(rows: RoundRows, day: WorkspaceDay): void {
    const stops = day.answer === undefined && dayStop(day) !== undefined
    rows.keepDay(defined({ ...day, asked: stops ? (day.asked ?? rows.now) : undefined }))
  }
}

const dayAt = (now: number) => localTime(now).slice(0, 10)

/** The size of the last report: an agent that reports late passes a cap by the whole report. */
function lastWords(task: Task | HeldTask, last: Spent | undefined): string {
  if (!last) return ''
  const { agent = task.tries?.at(-1)?.agent ?? 'its agent' } = task
  return `The last report of ${agent} was ${capWords(defined({ tokens: last.tokens, cost: last.cost }))}. `
}
