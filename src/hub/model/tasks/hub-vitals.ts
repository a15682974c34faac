import type { TaskState } from './task.ts'

/** A histogram of durations: how many were at most as long as each bound, in seconds. */
type Histogram = { bounds: readonly number[]; counts: readonly number[]; sum: number; count: number }

/** The numbers that show an operator how a hub is doing. The numbers about the ledger are the same at every hub that shares it. */
export type HubNumbers = {
  /** The tasks of the ledger by state, and the age of the oldest queued task. */
  tasks: Readonly<Partial<Record<TaskState, number>>>
  oldestWaitingMs?: number
  /**
   * Pauses in the ledger: whether the hub is paused, and how many machines and agents are paused themselves. `fullMachines` counts the
   * machines that have reached their task limit.
   */
  paused: { hub: boolean; machines: number; agents: number }
  fullMachines: number
  /** The size of the ledger in bytes. */
  ledgerBytes: number
  /** The free bytes on the disk of a ledger in a file. */
  diskFreeBytes?: number
  /** The agents that wait at this hub only, and this hub's own counts since it started. */
  waitingAgents: number
  /** How many tasks were given to an agent, and how many the hub put back into the queue, mostly because their agent was silent. */
  claims: number
  returns: number
  rounds: number
  ledgerErrors: number
  /** The times from when a task could be given out until it was. */
  wake: Histogram
}

/** The facts that show an operator how a hub is doing. */
export interface HubVitals {
  /** Resolves when the ledger can be read and written; otherwise rejects, with LedgerAway if it cannot be reached. */
  check(): Promise<void>
  numbers(): Promise<HubNumbers>
}
