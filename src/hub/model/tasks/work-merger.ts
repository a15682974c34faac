import type { TaskMerge } from './task-try.ts'
import type { Task } from './task.ts'

/** A merge cannot be made, and nothing was changed. The message says why and what to do next. */
export class MergeRefused extends Error {
  override name = 'MergeRefused'
}

/** The machine does not have the repository: another one may. */
export class RepositoryMissing extends MergeRefused {
  override name = 'RepositoryMissing'
}

/** Merges the work of tasks into the branch that is checked out in their workspace, on a machine that has the repository. */
export interface WorkMerger {
  /** The name of the machine that merges. */
  readonly machine: string
  /** Looks whether the last try of a task can be merged, without touching anything. Returns the commit that would be merged; throws MergeRefused. */
  check(task: Task): Promise<{ commit: string }>
  /** Merges the last try of a task; work that is merged already stays as it is. Throws MergeRefused. */
  merge(task: Task): Promise<TaskMerge>
  /** The merge of a commit of a task, if a process that was killed has made it. */
  found(task: Task, commit: string): Promise<TaskMerge | undefined>
  /** Removes what a merged task leaves in the repository. */
  sweep(task: Task): Promise<void>
}
