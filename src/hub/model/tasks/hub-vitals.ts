import type { TaskState } from './task.ts'

/** How many of some durations were at most as long as each bound, in seconds. */
type Histogram = { bounds: readonly number[]; counts: readonly number[]; sum: number; count: number }

/** The numbers that show an operator how a hub is doing. Those of the ledger are the same at every hub of one ledger. */
export type HubNumbers = {
  /** The tasks of the ledger by state, and how long ago the oldest task of its queue was added. */
  tasks: Readonly<Partial<Record<TaskState, number>>>
  oldestWaitingMs?: number
  /**
   * Pauses in the ledger: whether the hub is paused, and how many machines and agents are paused by themselves. `fullMachines` counts the
   * machines that have as many tasks as they may.
   */
  paused: { hub: boolean; machines: number; agents: number }
  fullMachines: number
  /** The bytes that the ledger takes. */
  ledgerBytes: number
  /** The bytes that are free on the disk of a ledger in a file. */
  diskFreeBytes?: number
  /** The agents that wait at this hub only, and the work that this hub did since it was started. */
  waitingAgents: number
  /** Tasks that were handed to an agent, and tasks that the hub put back into the queue, mostly because their agent was silent. */
  claims: number
  returns: number
  rounds: number
  ledgerErrors: number
  /** The time from the moment at which a task could be handed out to the moment at which it was. */
  wake: Histogram
}

/** The facts that show an operator how a hub is doing. */
export interface HubVitals {
  /** Resolves when the ledger can be read and written; otherwise rejects, with LedgerAway if it cannot be reached. */
  check(): Promise<void>
  numbers(): Promise<HubNumbers>
}
