import type { HubLedger } from '../model/hub-ledger.ts'
import type { HubAgent, Task } from '../model/tasks/task.ts'
import type { RoundRows } from './rounds/round-rows.ts'
import type { Rounds } from './rounds/rounds.ts'
import { defined } from '../../base/defined.ts'
import { requestName } from './rules/repeated-request.ts'
import { takeBack } from './settling.ts'
import { cancelTask } from './rules/task-moves.ts'
import { HubError } from './rules/task-rules.ts'

/** The most messages from people that are stored for an agent. */
const mostMessages = 50

/** The orders that people give to agents: messages, stops and evictions. */
export class AgentOrders {
  #rounds: Pick<Rounds, 'wish'>
  #ledger: HubLedger

  constructor({ rounds, ledger }: { rounds: Pick<Rounds, 'wish'>; ledger: HubLedger }) {
    this.#rounds = rounds
    this.#ledger = ledger
  }

  /** Sends a message to one agent, which gets it the next time it waits. */
  message(id: string, text: string, by: string, key?: string): Promise<HubAgent> {
    const request = requestName(by, 'message', key)
    return this.#rounds.wish({
      reads: () => ({ agents: [id] }),
      decide: (rows) => {
        tell(rows, rows.agent(id), { text, by, request })
        return rows.agent(id)
      },
    })
  }

  /** Sends a message to every agent of a workspace, or to all; returns how many there are. */
  async broadcast(text: string, by: string, workspace?: string, key?: string): Promise<number> {
    const request = requestName(by, 'broadcast', key)
    const agents = await this.#ledger.look((look) => look.agents())
    const ids = agents
      .map(({ agent }) => agent)
      .filter((agent) => workspace === undefined || agent.workspace === workspace)
    return this.#rounds.wish({
      reads: () => ({ agents: ids.map(({ id }) => id) }),
      decide: (rows) => {
        const told = ids.flatMap(({ id }) => rows.knownAgent(id) ?? [])
        for (const agent of told) tell(rows, agent, { text, by, request })
        return told.length
      },
    })
  }

  /**
   * Cancels the task of an agent. A supervised agent is interrupted within seconds; any other agent finds out when it next reports on the
   * task.
   */
  stop(id: string, by: string): Promise<Task> {
    return this.#rounds.wish({
      reads: () => ({ agents: [id] }),
      decide: (rows) => {
        rows.agent(id)
        const task = rows.tasks.heldBy(id)
        if (!task)
          throw new HubError('conflict', `Agent ${id} has no task that could be stopped. To end the agent, remove it.`)
        return rows.tasks.replace(cancelTask(task, { at: rows.now, by, why: `${by} stopped the agent` }))
      },
    })
  }

  /** Removes an agent: its task goes back to the queue, and the agent gets the order to leave, at once if it is waiting. */
  evict(id: string, why: string): Promise<void> {
    return this.#rounds.wish({
      reads: () => ({ agents: [id] }),
      decide: (rows) => {
        const agent = rows.agent(id)
        const task = rows.tasks.heldBy(id)
        if (task) takeBack(rows, task, 'hub', `its agent was removed from the hub: ${why}`)
        rows.know({ ...agent, evicted: why })
      },
    })
  }
}

/** Sends a message to an agent, unless the same request did so before. */
function tell(
  rows: RoundRows,
  agent: HubAgent,
  { text, by, request }: { text: string; by: string; request: string | undefined },
): void {
  const before = agent.messages ?? []
  if (request !== undefined && before.some((message) => message.request === request)) return
  const messages = [...before, defined({ at: rows.now, by, text, request })].slice(-mostMessages)
  rows.know({ ...agent, messages, inbox: [...agent.inbox, text] })
}
