import type { LedgerRound, NewChange } from '../../model/hub-ledger.ts'

type Unstamped<C> = C extends unknown ? Omit<C, 'at'> : never

/** Everything that follows from the changes of one round: the news about them, and the rows and agents that must be checked next. */
export class RoundConsequences {
  /** Queued tasks that may have to wait for other tasks, or for their pipeline. */
  readonly unsure = new Set<string>()
  /** Tasks that ended since the last check: the queued tasks that need them must be checked. */
  readonly over = new Set<string>()
  /** Pipelines that were paused or resumed, or whose tasks changed state. */
  readonly moved = new Set<string>()
  /** The changes that followers of the hub get. */
  readonly changes: NewChange[] = []
  /** Whether this round may have left a task or a message for a waiting agent. */
  callsAgents = false
  /** Whether an agent has lost or finished its task, so that its machine may have room for another one. */
  hasFreed = false
  /** The time in ms until the first row that this round leaves behind is due. */
  untilDue = Infinity
  #round: Pick<LedgerRound, 'now'>

  constructor(round: Pick<LedgerRound, 'now'>) {
    this.#round = round
  }

  publish(change: Unstamped<NewChange>): void {
    this.changes.push({ at: this.#round.now, ...change })
  }

  /** Notes that a row is due at a time; `now` is the present time of the same clock. */
  dueAt(at: number | undefined, now: number): void {
    if (at !== undefined) this.untilDue = Math.min(this.untilDue, at - now)
  }
}
