import type { PipelineCap } from '../tasks/pipeline.ts'
import type { PromptPart } from '../../../core/data/prompt-template.ts'

/** The end of the time that a pipeline or a task has: a duration after it is added, or a moment. */
export type Deadline = { afterMs: number } | { at: number }

/** How often a task that failed is tried again, and the pause before each try. */
export type Retries = { times: number; pauseMs: number }

/** The times at which a plan is run. `skip` leaves a time out while the run before is not over. */
export type PlanSchedule = { cron: string; zone: string; overlap: 'allow' | 'skip' }

/** One task of a plan; a task with a matrix is one for each combination. */
export type PlannedTask = {
  name: string
  /** The parts of the prompt; a reference names the tasks of this plan whose results it hands on. */
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

/** A plan that was read and found right: everything that a run of it needs. */
export type Plan = {
  name: string
  tasks: PlannedTask[]
  deadline?: Deadline
  schedule?: PlanSchedule
  budget?: PipelineCap
}
