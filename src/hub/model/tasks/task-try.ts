import type { Spent } from '../../../core/work/budget.ts'

export type TaskResult = { message: string; artifacts?: unknown[] }

/** A text that the hub keeps beside its tasks, by the hash of its content. */
export type KeptText = { id: string; bytes: number }

/** The diff of a try, which is kept beside the task. `cut`: the diff was longer than the hub keeps, and its end is missing. */
export type TryDiff = KeptText & { files: number; added: number; removed: number; cut?: true }

/** The longest text that the hub keeps beside a task. */
export const longestText = 64 * 1024 * 1024

/** The most of a check's output that is kept with the try itself; the whole output is kept beside it. */
export const shownOutput = 4 * 1024

/** The most checks of one try. */
export const mostChecks = 50

/**
 * A command that ran to check the work of a try. `exit` is missing if the command did not exit by itself, and `why` says the reason.
 * `ranBy` is `agent` if only the agent says that the command ran.
 */
export type TaskCheck = {
  command: string
  exit?: number
  why?: string
  ms: number
  /** The output, or the end of a long one. */
  output: string
  /** The whole output, if `output` is only its end. */
  whole?: KeptText
  ranBy: 'termaite' | 'agent'
}

/** A merge that was made: the machine that made it, the branch that was merged, the branch it went into, and the commit there. */
export type TaskMerge = { machine: string; branch: string; into: string; commit: string }

/** The verdict of a person on a try. */
export type TryReview = { at: number; by: string; verdict: 'approved' | 'rejected'; text?: string; merged?: TaskMerge }

/**
 * The branch of a try as a git bundle, which the hub keeps in parts beside the task. `id` is the SHA-256 of the whole, and that of each
 * part is its id, so that an interrupted upload continues with the missing parts, at any hub.
 */
export type TryBundle = KeptText & { parts: KeptText[] }

/** The largest bundle that the hub keeps, and the size of each part but the last. */
export const longestBundle = 256 * 1024 * 1024
export const bundlePart = 4 * 1024 * 1024

/**
 * The place of the work of a try: the branch with its last commit, the commit that it began at, the folder and the machine. `pushed` is the
 * remote that has the branch, and `bundle` is the branch as the hub keeps it.
 */
export type TryPlace = {
  machine?: string
  branch?: string
  commit?: string
  base?: string
  worktree?: string
  pushed?: string
  bundle?: TryBundle
}

/** The state that a task reaches when a try of it ends. */
type TryEnd = 'QUEUED' | 'BLOCKED' | 'IN_REVIEW' | 'COMPLETED' | 'FAILED' | 'CANCELLED'

/** One try of a task: an agent's work on it, from its acknowledgement to the next state. */
export type TaskTry = TryPlace & {
  /** Tries are numbered from 1. */
  number: number
  agent: string
  began: number
  /** When the try was over, and the state that the task reached: QUEUED if the agent gave it back or fell silent. */
  ended?: number
  end?: TryEnd
  result?: TaskResult
  diff?: TryDiff
  checks?: TaskCheck[]
  reviews?: TryReview[]
  /** The tokens and the cost that the agent reported for the try. */
  spent?: Spent
  /** The work came after the agent had lost the task: it is kept, and is never the accepted one. */
  late?: true
}
