import type { HubChange, HubLedger } from '../model/hub-ledger.ts'
import type { HubNumbers, HubVitals } from '../model/tasks/hub-vitals.ts'
import { defined } from '../../base/defined.ts'
import { messageOf } from '../../base/error-message.ts'
import { StoreError } from '../../core/talk/store.ts'
import { emptyWrites } from '../model/hub-ledger.ts'
import { wholeHub } from '../model/tasks/machine-rules.ts'

/**
 * The upper bounds, in seconds, of the buckets for wake times: from a few milliseconds if an agent waits, to an hour if no agent is free.
 */
const wakeBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600]

/** A disk with less room than this is full. */
const leastFreeBytes = 1024 * 1024

/** Counts the hub's work by the changes that it publishes, and reads everything else from the ledger on request. */
export class CountedVitals implements HubVitals {
  #ledger: HubLedger
  #waiting: () => number
  #counts = { claims: 0, returns: 0, rounds: 0, ledgerErrors: 0 }
  #wake = { bounds: wakeBounds, counts: wakeBounds.map(() => 0), sum: 0, count: 0 }

  #tell: (words: string) => void
  /** The reason for the ledger's failure that the operator has already seen. */
  #told: string | undefined

  /**
   * `waiting` returns how many agents wait at this hub. `tell` informs the operator when the ledger cannot be used, and when it can be used
   * again.
   */
  constructor(ledger: HubLedger, waiting: () => number, tell: (words: string) => void = () => {}) {
    this.#ledger = ledger
    this.#waiting = waiting
    this.#tell = tell
  }

  /** Counts the changes of one round, once they are durable. */
  see(changes: readonly HubChange[]): void {
    this.#counts.rounds++
    if (changes.length > 0) this.#seeSuccess()
    for (const change of changes) {
      if (change.type !== 'task') continue
      const { state, prompt } = change.set
      if (state === 'PENDING_ACK') this.#counts.claims++
      // A change with a prompt is that of a new task.
      if (state === 'QUEUED' && prompt === undefined && change.step?.by === 'hub') this.#counts.returns++
    }
  }

  /** Counts the time that a task was ready before it was handed out. */
  woke(ms: number): void {
    const seconds = ms / 1000
    this.#wake.sum += seconds
    this.#wake.count++
    wakeBounds.forEach((bound, place) => {
      if (seconds <= bound) this.#wake.counts[place]!++
    })
  }

  /** Counts a round that the ledger rejected, or a failed check of the ledger. */
  seeError(error: unknown): void {
    this.#counts.ledgerErrors++
    const why = messageOf(error)
    if (why === this.#told) return
    this.#told = why
    this.#tell(`The hub cannot write its records, so it refuses changes: ${why}`)
  }

  #seeSuccess(): void {
    if (this.#told !== undefined) this.#tell('The hub can write its records again.')
    this.#told = undefined
  }

  async check(): Promise<void> {
    try {
      await this.#ledger.keys.withHash('')
      await this.#checkWriting()
      this.#seeSuccess()
    } catch (error) {
      this.seeError(error)
      throw error
    }
  }

  /** Throws if a ledger in a file cannot be written. The disk of a database server is not the hub's concern. */
  async #checkWriting(): Promise<void> {
    if (this.#ledger.isShared) return
    // On a full disk, SQLite may still find free space inside its own files for a while.
    const free = this.#ledger.freeBytes?.() ?? Infinity
    if (free < leastFreeBytes) throw new StoreError('the disk of the hub is full')
    await this.#ledger.round((round) => round.write(emptyWrites))
  }

  async numbers(): Promise<HubNumbers> {
    const { counts, now, rules, agents, held } = await this.#ledger.look(async (look) => {
      const rules = await look.machineRules()
      const limited = rules.flatMap(({ machine, limit }) => (limit === undefined ? [] : [machine]))
      return {
        counts: await look.counts(),
        now: look.now,
        rules,
        agents: await look.agents(),
        held: limited.length === 0 ? [] : await look.heldOn(limited),
      }
    })
    const pausedMachines = rules.filter(({ pause, machine }) => pause && machine !== wholeHub)
    const oldest = counts.find(({ state }) => state === 'QUEUED')?.oldest
    return defined({
      ...this.#counts,
      tasks: Object.fromEntries(counts.map(({ state, count }) => [state, count])),
      paused: {
        hub: rules.some(({ pause, machine }) => pause && machine === wholeHub),
        machines: pausedMachines.length,
        agents: agents.filter(({ agent }) => agent.paused).length,
      },
      fullMachines: held.filter(({ machine, count }) =>
        rules.some((one) => one.machine === machine && count >= one.limit!),
      ).length,
      waitingAgents: this.#waiting(),
      wake: structuredClone(this.#wake),
      ledgerBytes: await this.#ledger.bytes(),
      diskFreeBytes: this.#ledger.freeBytes?.(),
      oldestWaitingMs: oldest === undefined ? undefined : Math.max(0, now - oldest),
    })
  }
}
