import type { LedgerRound, NewChange } from '../../model/hub-ledger.ts'

type Unstamped<C> = C extends unknown ? Omit<C, 'at'> : never

/** Everything that follows from the changes of one round: the news about them, and the rows and agents that have to be looked at then. */
export class RoundConsequences {
  /** Queued tasks that may wait for others, or for their pipeline. */
  readonly unsure = new Set<string>()
  /** Tasks that are over since the last look: queued tasks that need them are looked at. */
  readonly over = new Set<string>()
  /** Pipelines whose tasks have moved, or that were paused or go on. */
  readonly moved = new Set<string>()
  /** The changes that followers of the hub are told. */
  readonly changes: NewChange[] = []
  /** Whether a task or a message may wait for an agent since this round. */
  callsAgents = false
  /** Whether an agent has lost or ended its task: its machine may have room for another one. */
  hasFreed = false
  /** In how many ms the first of the rows that this round leaves is due. */
  untilDue = Infinity
  #round: Pick<LedgerRound, 'now'>

  constructor(round: Pick<LedgerRound, 'now'>) {
    this.#round = round
  }

  publish(change: Unstamped<NewChange>): void {
    this.changes.push({ at: this.#round.now, ...change })
  }

  /** A row is due at a time; `now` is the time of the same clock. */
  dueAt(at: number | undefined, now: number): void {
    if (at !== undefined) this.untilDue = Math.min(this.untilDue, at - now)
  }
}
