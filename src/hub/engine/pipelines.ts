import type { CronTimes } from '../../base/time/cron-times.ts'
import type { Pipeline } from '../model/tasks/pipeline.ts'
import type { Plan, PlanSchedule } from '../model/plans/plan.ts'
import type { AddedPlan, Schedule } from '../model/plans/schedule.ts'
import type { QueuedTask, Task, UndoneTask } from '../model/tasks/task.ts'
import type { SpendingCap } from '../model/tasks/spending-cap.ts'
import type { HubLedger } from '../model/hub-ledger.ts'
import type { Handing } from './rules/pipeline-rules.ts'
import type { RoundRows } from './rounds/round-rows.ts'
import type { Rounds } from './rounds/rounds.ts'
import { loadCronTimes } from '../../base/time/cron-times.ts'
import { defined } from '../../base/defined.ts'
import { sha256 } from '../../base/hash.ts'
import {
  answeredPipeline,
  askedPipeline,
  isPipelineOver,
  pipelineOptions,
  pipelineSpent,
  pipelineStop,
} from '../model/tasks/pipeline.ts'
import { problemLines } from '../model/plans/plan-problems.ts'
import { readPlan } from '../model/plans/plan-reader.ts'
import { dueRun, resumedSchedule } from '../model/plans/schedule.ts'
import { filledTask, newRun, renewedPlace, retriedTask, runTasks } from './rules/pipeline-rules.ts'
import { pickedForCap } from './rules/question-picks.ts'
import { cancelTask, queuedAgain } from './rules/task-moves.ts'
import { HubError, isFinished, isHeld } from './rules/task-rules.ts'

/** A plan to add. The sender chooses `id`, so that a repeated request adds nothing. */
type NewPipeline = { id: string; plan: Plan; digest: string; by: string }

/** The text of a plan with the name of its file, and the workspace and the time zone of the sender. */
type PlanText = {
  id: string
  text: string
  file?: string
  workspace: string
  zone?: string
  by: string
  now: number
}

type PipelineParts = {
  rounds: Pick<Rounds, 'wish'>
  ledger: HubLedger
  handing: Handing
  /** The cap of each task, by the settings of the hub. */
  taskCap: SpendingCap | undefined
}

/** A new run of a plan. */
type Run = { id: string; by: string; digest: string; schedule?: string; note?: string | undefined }

/** The hub's pipelines and schedules. Every change is durable before it is answered. */
export class Pipelines {
  #parts: PipelineParts
  /** The library for cron patterns is loaded when the first schedule needs it. */
  #cron: CronTimes | undefined

  constructor(parts: PipelineParts) {
    this.#parts = parts
  }

  all(): Promise<Pipeline[]> {
    return this.#parts.ledger.look(async (look) => (await look.pipelines()).map(({ pipeline }) => pipeline))
  }

  schedules(): Promise<Schedule[]> {
    return this.#parts.ledger.look((look) => look.schedules())
  }

  async pipeline(id: string): Promise<Pipeline> {
    const [row] = await this.#parts.ledger.look((look) => look.pipelines([id]))
    if (!row) throw new HubError('missing', `There is no pipeline ${id}.`)
    return row.pipeline
  }

  async schedule(id: string): Promise<Schedule> {
    const [schedule] = await this.#parts.ledger.look((look) => look.schedules([id]))
    if (!schedule) throw new HubError('missing', `There is no schedule ${id}.`)
    return schedule
  }

  /** The tasks of a pipeline, in the order of its plan. */
  async tasksOf({ tasks }: Pipeline): Promise<Task[]> {
    const found = new Map(
      (await this.#parts.ledger.look((look) => look.tasks(tasks))).map(({ task }) => [task.id, task]),
    )
    return tasks.flatMap((id) => found.get(id) ?? [])
  }

  /** Adds the plan in a text as a whole; if it has mistakes, throws a HubError that names all of them. */
  async addText({ id, text, file = 'plan', workspace, zone = 'UTC', by, now }: PlanText): Promise<AddedPlan> {
    const digest = sha256()
      .update(JSON.stringify([text, workspace, zone]))
      .digest('hex')
    // A repeated request may arrive after a time that its plan names, and must still succeed.
    const known = await this.#known(id, digest)
    if (known) return known
    const { plan, problems } = await readPlan(text, { workspace, zone, now })
    if (!plan) throw new HubError('wrong', problemLines(file, problems).join('\n'))
    return this.add({ id, plan, digest, by })
  }

  /** Adds all tasks of a plan, or the schedule if the plan has one. */
  async add({ id, plan, digest, by }: NewPipeline): Promise<AddedPlan> {
    const cron = plan.schedule && (await this.#loadCron())
    const run = { id, by, digest }
    return this.#parts.rounds.wish({
      reads: () => ({
        pipelines: [id],
        schedules: [id],
        everySchedule: plan.schedule !== undefined,
        tasks: plan.schedule ? [] : runTasks(plan, id),
      }),
      decide: (rows) => {
        const known = () => knownPlan(id, digest, rows.knownPipeline(id), rows.knownSchedule(id))
        const before = known()
        if (before) return before
        if (plan.schedule && cron) this.#addSchedule(rows, plan, plan.schedule, run, cron)
        else this.#begin(rows, plan, run)
        return known()!
      },
    })
  }

  cancel(id: string, by: string, why?: string): Promise<Pipeline> {
    return this.#wish(id, (rows, pipeline) => cancelPipeline(rows, pipeline, by, why))
  }

  /** Retries every failed or cancelled task of a pipeline; the tasks that need one of them wait for it. */
  retry(id: string, by: string): Promise<Pipeline> {
    return this.#wish(id, (rows, pipeline) => {
      const undone = rows.tasks.of(pipeline).filter(isUndone)
      if (undone.length === 0)
        throw new HubError('conflict', `No task of the pipeline ${pipeline.name} has failed or was cancelled.`)
      const at = rows.now
      for (const task of undone) rows.tasks.replace(renewedPlace(queuedAgain(task, { at, by, returns: 0 }), at))
      return pipeline
    })
  }

  pause(id: string, by: string): Promise<Pipeline> {
    return this.#wish(id, (rows, pipeline) => {
      if (isPipelineOver(rows.tasks.of(pipeline)))
        throw new HubError('conflict', `The pipeline ${pipeline.name} is over already.`)
      return { ...pipeline, paused: pipeline.paused ?? { at: rows.now, by } }
    })
  }

  /** Resumes a pipeline that a person paused; a pipeline that has passed its budget needs an answer instead. */
  resume(id: string): Promise<Pipeline> {
    return this.#wish(id, (_, { paused, ...pipeline }) => {
      if (!paused) {
        const words = pipeline.asks
          ? `has ${pipeline.asks.passed}. Answer the question: termaite task answer ${JSON.stringify(pipeline.name)} <number>`
          : 'is not paused'
        throw new HubError('conflict', `The pipeline ${pipeline.name} ${words}.`)
      }
      return pipeline
    })
  }

  /** Answers the question whether a pipeline that has exceeded its budget may continue. */
  answer(id: string, picks: readonly string[], by: string): Promise<Pipeline> {
    return this.#wish(id, (rows, pipeline) => {
      if (!pipeline.asks) throw new HubError('conflict', `The pipeline ${pipeline.name} has no open question.`)
      const pick = pickedForCap(pipelineOptions(pipeline.asks), picks)
      if (pick === 'stop')
        return cancelPipeline(rows, pipeline, by, `stopped: the pipeline has ${pipeline.asks.passed}`)
      return answeredPipeline(pipeline, pick)
    })
  }

  pauseSchedule(id: string, by: string): Promise<Schedule> {
    return this.#parts.rounds.wish({
      reads: () => ({ schedules: [id] }),
      decide: (rows) => {
        const schedule = rows.schedule(id)
        rows.keepSchedule({ ...schedule, paused: schedule.paused ?? { at: rows.now, by } })
        return rows.schedule(id)
      },
    })
  }

  async resumeSchedule(id: string): Promise<Schedule> {
    const cron = await this.#loadCron()
    return this.#parts.rounds.wish({
      reads: () => ({ schedules: [id] }),
      decide: (rows) => {
        const schedule = rows.schedule(id)
        if (schedule.paused) rows.keepSchedule(resumedSchedule(schedule, rows.now, cron))
        return rows.schedule(id)
      },
    })
  }

  /** Removes a schedule; the pipelines that it started continue. */
  removeSchedule(id: string): Promise<Schedule> {
    return this.#parts.rounds.wish({
      reads: () => ({ schedules: [id] }),
      decide: (rows) => {
        const schedule = rows.schedule(id)
        rows.unschedule(id)
        return schedule
      },
    })
  }

  /** Updates the pipelines whose tasks changed in this round: retries failed tasks, and asks a person about a budget that is used up. */
  async settle(rows: RoundRows, moved: readonly string[]): Promise<void> {
    await rows.read({ pipelines: moved })
    for (const id of moved) {
      const pipeline = rows.knownPipeline(id)
      if (!pipeline) continue
      for (const task of rows.tasks.of(pipeline)) {
        const again = retriedTask(task, rows.now)
        if (again) rows.tasks.replace(again)
      }
      check(rows, pipeline)
    }
  }

  /** The task with its prompt filled in, if it may be given out now; undefined if its pipeline or a pause prevents that. */
  async begun(rows: RoundRows, task: QueuedTask): Promise<QueuedTask | undefined> {
    const { pipeline } = task
    if (!pipeline) return task
    await rows.read({ pipelines: [pipeline.id] })
    if (pipelineStop(rows.knownPipeline(pipeline.id)) !== undefined) return undefined
    const row = rows.tasks.row(task.id)
    if (row?.due !== undefined && row.due > rows.steady) return undefined
    return rows.tasks.replace(await filledTask(task, { get: (id) => rows.tasks.need(id) }, this.#parts.handing))
  }

  /** Starts the runs that are due. Each run is written together with the next time of its schedule: both or neither. */
  async runSchedules(rows: RoundRows): Promise<void> {
    const due = await rows.ledger.dueSchedules()
    if (due.length === 0) return
    const cron = await this.#loadCron()
    rows.learnSchedules(due)
    for (const { id } of due) {
      const schedule = rows.schedule(id)
      const next = dueRun(schedule, rows.now, cron)
      if (!next) continue
      const { by, digest, plan, overlap, last } = schedule
      // The same time gives the same id, so that no scheduled time runs twice.
      const run = { id: `${id.slice(0, 40)}-${next.at.toString(36)}`, by, digest, schedule: id, note: next.note }
      await rows.read({ pipelines: [run.id, ...(last ? [last.pipeline] : [])], tasks: runTasks(plan, run.id) })
      const before = last && rows.knownPipeline(last.pipeline)
      if (overlap === 'skip' && before && !isPipelineOver(rows.tasks.of(before))) {
        rows.keepSchedule({ ...next.schedule, skipped: schedule.skipped + 1 })
        continue
      }
      if (!rows.knownPipeline(run.id)) this.#begin(rows, plan, run)
      rows.keepSchedule({ ...next.schedule, runs: schedule.runs + 1, last: { at: rows.now, pipeline: run.id } })
    }
  }

  /** Changes a pipeline by a rule that returns its next state. */
  #wish(id: string, rule: (rows: RoundRows, pipeline: Pipeline) => Pipeline): Promise<Pipeline> {
    return this.#parts.rounds.wish({
      reads: () => ({ pipelines: [id] }),
      decide: (rows) => {
        rows.keepPipeline(rule(rows, rows.pipeline(id)))
        return rows.pipeline(id)
      },
    })
  }

  /** Finds the pipeline that an earlier copy of the same request added; undefined for a new request. */
  #known(id: string, digest: string): Promise<AddedPlan | undefined> {
    return this.#parts.ledger.look(async (look) => {
      const [row] = await look.pipelines([id])
      const [schedule] = await look.schedules([id])
      return knownPlan(id, digest, row?.pipeline, schedule)
    })
  }

  #addSchedule(rows: RoundRows, plan: Plan, when: PlanSchedule, { id, by, digest }: Run, cron: CronTimes): void {
    const same = rows.schedules().find(({ name }) => name === plan.name)
    if (same)
      throw new HubError(
        'conflict',
        `There is a schedule ${plan.name} already. Remove it first: termaite task schedule remove ${JSON.stringify(plan.name)}. Or give the plan another name.`,
      )
    const { now } = rows
    const next = cron.next(when.cron, when.zone, now)
    const counts = { created: now, runs: 0, skipped: 0 }
    rows.keepSchedule(defined({ ...when, id, name: plan.name, plan, digest, by, ...counts, next }))
  }

  /** Starts a run of a plan. All checks come before the first change. */
  #begin(rows: RoundRows, plan: Plan, run: Run): void {
    const { pipeline, tasks } = this.#newRun(plan, run, rows)
    const taken = tasks.find(({ id }) => rows.tasks.known(id))
    if (taken) throw new HubError('wrong', `Task ${taken.id} exists already. Choose another id for the pipeline.`)
    rows.keepPipeline(pipeline)
    for (const task of tasks) rows.tasks.add(task)
  }

  #newRun(plan: Plan, run: Run, { now }: RoundRows) {
    return newRun(plan, { ...run, now, taskCap: this.#parts.taskCap })
  }

  async #loadCron(): Promise<CronTimes> {
    return (this.#cron ??= await loadCronTimes())
  }
}

/**
 * If the budget of a pipeline is used up, asks a person how to continue. Otherwise sets the time at which its time budget will be used
 * up.
 */
export function check(rows: RoundRows, pipeline: Pipeline): void {
  const tasks = rows.tasks.of(pipeline)
  const asked = askedPipeline(pipeline, tasks, rows.now)
  if (asked) rows.keepPipeline(asked)
  const limit = (pipeline.allowed ?? pipeline.cap)?.timeMs
  const isAtWork = limit !== undefined && !asked && !pipeline.asks && tasks.some(isHeld)
  rows.putPipelineDue(pipeline.id, isAtWork ? rows.now + limit - pipelineSpent(tasks, rows.now).timeMs : undefined)
}

function cancelPipeline(
  rows: RoundRows,
  pipeline: Pipeline,
  by: string,
  why = 'cancelled with its pipeline',
): Pipeline {
  const tasks = rows.tasks.of(pipeline)
  if (isPipelineOver(tasks)) throw new HubError('conflict', `The pipeline ${pipeline.name} is over already.`)
  for (const task of tasks) if (!isFinished(task)) rows.tasks.replace(cancelTask(task, { at: rows.now, by, why }))
  const { asks: _, paused: __, ...rest } = pipeline
  return rest
}

function knownPlan(
  id: string,
  digest: string,
  pipeline: Pipeline | undefined,
  schedule: Schedule | undefined,
): AddedPlan | undefined {
  const known = pipeline ?? schedule
  if (!known) return undefined
  if (known.digest !== digest) throw new HubError('wrong', `Pipeline ${id} exists already, with another plan.`)
  return pipeline ? { pipeline } : { schedule: schedule! }
}

const isUndone = (task: Task): task is UndoneTask => task.state === 'FAILED' || task.state === 'CANCELLED'
