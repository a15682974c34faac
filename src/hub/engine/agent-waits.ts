import type { Clock } from '../../base/time/clock.ts'
import type { WorkRequest } from '../model/hub-ledger.ts'
import type { Gift } from './rounds/claims.ts'
import type { Rounds, Wish } from './rounds/rounds.ts'
import type { WaitingAgents } from './rounds/waiting-agents.ts'
import type { Given } from '../model/hub-state.ts'
import { defined } from '../../base/defined.ts'
import { LedgerAway } from '../model/ledger-away.ts'
import { takeBack } from './settling.ts'
import { ticketOf } from './rules/task-rules.ts'

/** The pause before the next attempt when the ledger is unavailable. */
const awayMs = 1_000

type AgentWaitParts = {
  rounds: Pick<Rounds, 'wish'>
  waiting: WaitingAgents
  clock: Clock
  /** The name of this hub among the hubs that share the ledger. */
  hub: string
}

/** A wait: the number of its connection at this hub, its deadline by `Clock.elapsed`, and the agent's own number of the request. */
type Asking = { id: string; number: number; until: number; asked?: WorkRequest | undefined }

/** The waits of agents for work, on connections to this hub. The ledger has the newest wait of each agent, at any hub. */
export class AgentWaits {
  #parts: AgentWaitParts

  constructor(parts: AgentWaitParts) {
    this.#parts = parts
  }

  /**
   * Waits for a task, a message or an eviction. A task that the agent already has is offered again, in case the answer was lost; a
   * request older than the agent's newest one gets nothing and changes nothing. `until` is a time of `Clock.elapsed`.
   */
  async wait(id: string, until: number, connection: AbortSignal, asked?: WorkRequest): Promise<Given> {
    const { waiting } = this.#parts
    if (await isClosed(connection, 3)) return { type: 'idle' }
    const { number, given } = waiting.wait(id, until, connection)
    try {
      // A request may arrive after its agent has given up on it, so an agent at work only loses its task once this connection has proved
      // to be open.
      const wait = { id, number, until, asked }
      let entered = await this.#whenThere(until, connection, this.#waitWish(wait, false))
      if (entered === 'works' && !(await isClosed(connection, 5)))
        entered = await this.#whenThere(until, connection, this.#waitWish(wait, true))
      if (entered === 'late') waiting.end(id, number)
    } catch (error) {
      // The agent gets the error and stops waiting.
      waiting.end(id, number)
      await given
      throw error
    }
    const got = await given
    if (got.type === 'idle' && connection.aborted) this.#left(id, number)
    return got
  }

  /** Repeats a wish while the ledger is unavailable; the agent keeps waiting and does not notice. */
  async #whenThere<T>(until: number, connection: AbortSignal, wish: Wish<T>): Promise<T | undefined> {
    const { rounds, clock } = this.#parts
    for (;;)
      try {
        return await rounds.wish(wish)
      } catch (error) {
        if (!(error instanceof LedgerAway)) throw error
        if (connection.aborted || clock.elapsed() + awayMs >= until) return undefined
        await clock.sleep(awayMs, connection)
      }
  }

  /**
   * Registers the wait of an agent. If `isSure` says that the agent really asks again, a task that it still has is taken back; otherwise
   * the answer is that the agent works.
   */
  #waitWish({ id, number, until, asked }: Asking, isSure: boolean): Wish<'waits' | 'works' | 'late'> {
    return {
      reads: () => ({ agents: [id] }),
      decide: (rows) => {
        rows.hear(id)
        const last = rows.agentRow(id).asked
        if (asked && asked.run === last?.run && asked.number <= last.number) return 'late'
        const held = rows.tasks.heldBy(id)
        if (held && !isSure) return 'works'
        if (held) takeBack(rows, held, id, 'its agent asked for work again without an answer')
        const ends = rows.steady + Math.max(0, until - this.#parts.clock.elapsed())
        const wait = { hub: this.#parts.hub, number, until: ends }
        rows.putAgentRow({ ...rows.agentRow(id), wait, ...defined({ asked }) })
        this.#parts.waiting.enter(id, number)
        rows.consequences.callsAgents = true
        return 'waits'
      },
    }
  }

  /** Records that an agent hung up while it waited. Nothing waits for this write: the agent's next request updates its state anyway. */
  #left(id: string, number: number): void {
    const left = this.#parts.rounds.wish({
      reads: () => ({ agents: [id] }),
      decide: (rows) => {
        const row = rows.knownAgent(id) && rows.agentRow(id)
        if (row?.wait?.hub !== this.#parts.hub || row.wait.number !== number) return
        const { wait: _, ...rest } = row
        rows.putAgentRow({ ...rest, left: rows.steady })
      },
    })
    void left.catch(() => {})
  }

  /** Takes back a gift whose connection was closed in the meantime. */
  missed({ waiter: { agent: id }, given }: Gift): void {
    const back = this.#parts.rounds.wish({
      reads: () => ({ agents: [id] }),
      decide: (rows) => {
        const agent = rows.knownAgent(id)
        const held = agent && rows.tasks.heldBy(id)
        // In the meantime the agent may have got the same task again, on a connection to another hub.
        const isThis = given.type === 'task' && held && ticketOf(held) === ticketOf(given.task)
        if (isThis && held.state === 'PENDING_ACK')
          takeBack(rows, held, 'hub', 'its agent hung up before the task arrived')
        if (given.type === 'told' && agent) rows.know({ ...agent, inbox: [given.text, ...agent.inbox] })
        if (agent) rows.putAgentRow({ ...rows.agentRow(id), left: rows.steady })
      },
    })
    void back.catch(() => {})
  }

  get size(): number {
    return this.#parts.waiting.size
  }

  /** Ends every wait at this hub. */
  close(): void {
    this.#parts.waiting.close()
  }
}

/**
 * Whether the agent has closed its connection. A request may be read long after it was sent, with the closing of the connection right
 * behind it. Waiting a few turns of the event loop reveals that, so that no task goes to a closed connection.
 */
async function isClosed(connection: AbortSignal, turns: number): Promise<boolean> {
  for (let turn = 0; turn < turns && !connection.aborted; turn++)
    await new Promise<void>((resolve) => setImmediate(resolve))
  return connection.aborted
}
