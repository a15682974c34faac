import type { Event } from '../../core/talk/entry.ts'
import type { Turn } from '../../core/work/agent.ts'
import type { WorkerSlot } from '../slot.ts'
import type { WorkerBoard, WorkerView } from './board.ts'
import { endingOf } from './board.ts'
import { workerState } from '../worker-turn.ts'
import { workerRole } from '../worker.ts'

/**
 * The workers of a turn in the form for a screen: every worker from its spawn to its end, including one that waits or that ends before
 * its own turn begins. While a worker is alive, the person can stop it.
 */
export class ShownWorkers {
  #turn: Turn
  #show: (event: Event) => void
  #board: WorkerBoard | undefined
  #leave = new Map<number, () => void>()
  #states = new Map<number, string>()
  #ended = new Set<number>()

  constructor(turn: Turn, show: (event: Event) => void) {
    this.#turn = turn
    this.#show = show
  }

  /** Shows one event of a worker. */
  see(slot: WorkerSlot, event: Event): void {
    this.#enter(slot)
    // Both the ledger and the worker's own turn say that it starts.
    if (event.type === 'state' && this.#states.get(slot.id) === event.state) return
    if (event.type === 'state') this.#states.set(slot.id, event.state)
    if (event.type === 'end') this.#over(slot.id)
    this.#show({ type: 'inner', role: workerRole(slot), event: { by: slot.agent, ...event } })
  }

  /** Shows the workers that wait or that ended without a turn, until the signal aborts; never rejects. */
  async follow(board: WorkerBoard, signal: AbortSignal): Promise<void> {
    this.#board = board
    try {
      for await (const views of board.watch(signal)) for (const view of views) await this.#look(view)
      // The last change may have come together with the signal.
      for (const view of await board.all()) await this.#look(view)
    } catch {
      // If the rows cannot be read, the work continues: the parts that need the ledger report the error themselves.
    }
  }

  async #look(view: WorkerView): Promise<void> {
    const { slot } = view
    if (!this.#leave.has(slot.id)) this.see(slot, workerState(slot))
    if (!view.over || this.#ended.has(slot.id) || !this.#board) return
    const { status } = await this.#board.envelope(view)
    // In the meantime the worker's own turn may have reported its end.
    if (!this.#ended.has(slot.id))
      this.see(slot, { type: 'end', outcome: { ok: false, failure: endingOf(slot) }, status })
  }

  #enter(slot: WorkerSlot): void {
    if (this.#leave.has(slot.id)) return
    const stop = async () => {
      await this.#board?.stop(String(slot.id))
    }
    const terminal = async () => this.#board?.terminal(slot.id)
    const loses = async () => {
      const view = await this.#board?.find(String(slot.id))
      return view?.slot.state === 'held'
        ? undefined
        : 'Its handoff then says how far it came, and what it has changed stays as it is.'
    }
    const work = { agent: slot.agent, loses, stop }
    const place = this.#turn.inside?.enter(
      workerRole(slot),
      slot.worker.where === 'terminal' ? { ...work, terminal } : work,
    )
    this.#leave.set(slot.id, () => place?.leave())
  }

  #over(id: number): void {
    this.#ended.add(id)
    this.#leave.get(id)?.()
  }
}
