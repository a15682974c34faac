import type { PipelineCap } from '../tasks/pipeline.ts'
import type { PromptPart } from '../../../core/data/prompt-template.ts'

/** When a pipeline or a task must be finished: a duration after it is added, or a fixed time. */
export type Deadline = { afterMs: number } | { at: number }

/** How often a failed task is tried again, and the pause before each try. */
export type Retries = { times: number; pauseMs: number }

/** The times at which a plan runs. `skip` leaves out a time if the previous run is not over. */
export type PlanSchedule = { cron: string; zone: string; overlap: 'allow' | 'skip' }

/** One task of a plan; a task with a matrix is already one task for each combination. */
export type PlannedTask = {
  name: string
  /** The parts of the prompt; a reference names the tasks of this plan whose results it inserts. */
  prompt: PromptPart<string>[]
  workspace: string
  agent?: string
  capabilities: string[]
  priority: number
  /** The names of the tasks that must be done first. */
  needs: string[]
  retries?: Retries
  deadline?: Deadline
}

/** A plan without mistakes: everything that a run of it needs. */
export type Plan = {
  name: string
  tasks: PlannedTask[]
  deadline?: Deadline
  schedule?: PlanSchedule
  budget?: PipelineCap
}
