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

/** The last rows that were read from each slot's terminal. */
export type LastRows = { get(slot: number): Promise<string[]>; set(slot: number, rows: string[]): Promise<void> }

/** The parts that every process with a crew needs, keeper or not. */
export type CrewParts = {
  store: Store
  workspace: string
  clock: Clock
  /** The mark of this process, and whether the process with another mark still runs. */
  owner: string
  alive(owner: string): boolean
  /** Whether this process is a keeper, which runs the agents that it spawns. */
  isKeeper: boolean
  /** Every agent that can be spawned. */
  names(): readonly string[]
  /** Why a known agent cannot be spawned, and what to do about it. */
  lacks?(name: string): string | undefined
  /** Finds a living terminal, whichever process opened it. */
  find(id: string): Promise<Terminal | undefined>
  limits: { perWorkspace: number; total: number }
  /** How many agents are alive in all other workspaces. */
  elsewhere(): Promise<number>
  worktrees?: Worktrees
  /** The last rows, stored for other processes; without this part they are lost with the process. */
  lastRows?: LastRows
}

/**
 * `outlives`: whether terminals stay open when this process exits. `mask` hides secrets in texts that one agent passes to another.
 * `opened` is called for each slot whose terminal was just opened. `complete` adds details for the person to an agent's question in a
 * folder, such as the dangerous parts of a command.
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
 * A coordinator, in the form in which the keeper of its workers uses it: the budget and time for the workers, and the calls that report
 * to the coordinator.
 */
export type WorkerHost = {
  /** The budget that all workers share. */
  budget: Budget
  /** Aborts when the time of all workers is over; the reason is a Failure. */
  over?: AbortSignal
  /** Shows what a worker does. */
  seen(slot: WorkerSlot, event: Event): void
  /** Prepares the folder for a worker before its agent is opened; undefined if the worker uses its usual folder. */
  begin?(slot: WorkerSlot, signal: AbortSignal): Promise<WorkerPlace | undefined>
  /**
   * Completes the envelope before it is stored: joins the changes into the project, and names changes outside the worker's scope. `done`:
   * the worker itself finished its turn.
   */
  settle?(slot: WorkerSlot, envelope: Envelope, how: { done: boolean; signal: AbortSignal }): Promise<Envelope>
}
