import type { Clock } from '../base/time/clock.ts'
import type { Terminal } from '../core/screen/terminal.ts'
import type { Question } from '../core/talk/question.ts'
import type { Store } from '../core/talk/store.ts'
import type { Event } from '../core/talk/entry.ts'
import type { Roster } from '../core/work/agent.ts'
import type { Budget } from '../core/work/budget.ts'
import type { Worktrees } from '../core/work/worktree.ts'
import type { Slot, WorkerSlot } from './slot.ts'
import type { Envelope, WorkerPlace } from './worker.ts'

/** The rows that each slot's terminal showed at its last read. */
export type LastRows = { get(slot: number): Promise<string[]>; set(slot: number, rows: string[]): Promise<void> }

/** The parts that every process with a crew needs, whether or not it is a keeper. */
export type CrewParts = {
  store: Store
  workspace: string
  clock: Clock
  /** The mark of this process, and whether the process of another mark still runs. */
  owner: string
  alive(owner: string): boolean
  /** Whether this process is a keeper, which runs the agents that are spawned in it. */
  isKeeper: boolean
  /** Every agent that can be spawned. */
  names(): readonly string[]
  /** Why a known agent cannot be spawned, and what to do about it. */
  lacks?(name: string): string | undefined
  /** Finds a living terminal, whichever process opened it. */
  find(id: string): Promise<Terminal | undefined>
  limits: { perWorkspace: number; total: number }
  /** How many agents live in all other workspaces. */
  elsewhere(): Promise<number>
  worktrees?: Worktrees
  /** The last rows, kept over processes; without this part they are forgotten with the process. */
  lastRows?: LastRows
}

/**
 * `outlives`: whether terminals go on when this process exits. `mask` hides secrets in texts that one agent hands to another. `opened` is
 * called for each slot whose terminal was just opened. `complete` adds what a person should see to a question of the agent in a folder,
 * such as the dangerous parts of a command.
 */
export type KeeperParts = CrewParts & {
  roster: Roster
  outlives(): boolean
  mask(text: string): string
  complete?(question: Question, cwd: string): Promise<Question>
  opened?(slot: Slot): void
  /** The coordinator of this process, whose workers the keeper runs. */
  host?: WorkerHost
}

/**
 * The coordinator as the keeper of its workers sees it: the budget and time that it gives them, and the calls by which it learns of them.
 */
export type WorkerHost = {
  /** The budget that all workers share. */
  budget: Budget
  /** Aborts when the time of all workers is over; the reason is a Failure. */
  over?: AbortSignal
  /** Shows what a worker does. */
  seen(slot: WorkerSlot, event: Event): void
  /** Prepares the place of a worker before its agent is opened; undefined if it works in its own folder. */
  begin?(slot: WorkerSlot, signal: AbortSignal): Promise<WorkerPlace | undefined>
  /**
   * Completes the envelope before it is kept: brings changes back, and names those outside of the worker's scope. `done`: the worker
   * finished its turn itself.
   */
  settle?(slot: WorkerSlot, envelope: Envelope, how: { done: boolean; signal: AbortSignal }): Promise<Envelope>
}
