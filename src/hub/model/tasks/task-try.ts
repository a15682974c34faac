import type { Spent } from '../../../core/work/budget.ts'

export type TaskResult = { message: string; artifacts?: unknown[] }

/** A text that the hub stores beside its tasks, under the hash of its content. */
export type KeptText = { id: string; bytes: number }

/** The diff of a try, stored beside the task. `cut`: the diff was longer than the hub stores, and its end is missing. */
export type TryDiff = KeptText & { files: number; added: number; removed: number; cut?: true }

/** The longest text that the hub stores beside a task. */
export const longestText = 64 * 1024 * 1024

/** The most of a check's output that is stored with the try itself; the whole output is stored beside it. */
export const shownOutput = 4 * 1024

/** The most checks of one try. */
export const mostChecks = 50

/**
 * A command that ran to check the work of a try. `exit` is missing if the command did not exit by itself, and `why` then gives the
 * reason. `ranBy` is `agent` if only the agent says that the command ran.
 */
export type TaskCheck = {
  command: string
  exit?: number
  why?: string
  ms: number
  /** The output; for a long one, its end. */
  output: string
  /** The whole output, if `output` is only its end. */
  whole?: KeptText
  ranBy: 'termaite' | 'agent'
}

/** A merge that was made: the machine that made it, the merged branch, the branch that it was merged into, and the resulting commit. */
export type TaskMerge = { machine: string; branch: string; into: string; commit: string }

/** The verdict of a person on a try. */
export type TryReview = { at: number; by: string; verdict: 'approved' | 'rejected'; text?: string; merged?: TaskMerge }

/**
 * The branch of a try as a git bundle, which the hub stores in parts beside the task. `id` is the SHA-256 of the whole, and each part's
 * id is the SHA-256 of the part, so that an interrupted upload continues with the missing parts, at any hub.
 */
export type TryBundle = KeptText & { parts: KeptText[] }

/** The largest bundle that the hub stores, and the size of each part except the last. */
export const longestBundle = 256 * 1024 * 1024
export const bundlePart = 4 * 1024 * 1024

/**
 * Where the work of a try is: the branch with its last commit, the commit from which it began, the folder and the machine. `pushed` is
 * the remote that has the branch, and `bundle` is the branch as the hub stores it.
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

/** The state that a task reaches when one of its tries ends. */
type TryEnd = 'QUEUED' | 'BLOCKED' | 'IN_REVIEW' | 'COMPLETED' | 'FAILED' | 'CANCELLED'

/** One try of a task: an agent's work on it, from its acknowledgement to the next state. */
export type TaskTry = TryPlace & {
  /** Tries are numbered from 1. */
  number: number
  agent: string
  began: number
  /** When the try ended, and the state that the task reached: QUEUED if the agent gave it back or fell silent. */
  ended?: number
  end?: TryEnd
  result?: TaskResult
  diff?: TryDiff
  checks?: TaskCheck[]
  reviews?: TryReview[]
  /** The tokens and the cost that the agent reported for the try. */
  spent?: Spent
  /** Set if the work arrived after the agent had lost the task: it is stored, but never accepted. */
  late?: true
}
