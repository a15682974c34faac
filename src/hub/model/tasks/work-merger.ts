import type { TaskMerge } from './task-try.ts'
import type { Task } from './task.ts'

/** A merge cannot be made, and nothing was changed. The message says why and what to do next. */
export class MergeRefused extends Error {
  override name = 'MergeRefused'
}

/** The machine does not have the repository; another machine may have it. */
export class RepositoryMissing extends MergeRefused {
  override name = 'RepositoryMissing'
}

/** Merges the work of tasks into the branch that is checked out in their workspace, on a machine that has the repository. */
export interface WorkMerger {
  /** The name of the machine that merges. */
  readonly machine: string
  /**
   * Checks whether the last try of a task can be merged, without changing anything. Returns the commit that would be merged; throws
   * MergeRefused.
   */
  check(task: Task): Promise<{ commit: string }>
  /** Merges the last try of a task; if it is merged already, nothing changes. Throws MergeRefused. */
  merge(task: Task): Promise<TaskMerge>
  /** The merge of a task's commit, if a process that was killed has made it. */
  found(task: Task, commit: string): Promise<TaskMerge | undefined>
  /** Removes the branch and other leftovers of a merged task from the repository. */
  sweep(task: Task): Promise<void>
}
