import type { LedgerWrites } from '../model/hub-ledger.ts'
import type { HubAgent } from '../model/tasks/task.ts'

/** Whether a message or an eviction waits for an agent. */
export const isCalled = ({ inbox, evicted }: HubAgent) => inbox.length > 0 || evicted !== undefined

/**
 * Whether a round leaves a task or a message for an agent that waits at some hub. Tasks and messages that the round itself gave out do
 * not count, because the other hubs would look for them in vain.
 */
export class AgentCalls {
  #all = false
  #left = new Set<string>()

  /** Calls all agents, whatever the round leaves for them. */
  call(): void {
    this.#all = true
  }

  wrote({ tasks, agents, days, machines }: LedgerWrites): void {
    this.#all ||= days.length + machines.length > 0
    for (const { task, ready } of tasks) this.#leaves(`task ${task.id}`, ready)
    for (const { agent } of agents) this.#leaves(`agent ${agent.id}`, isCalled(agent))
  }

  get isCalling(): boolean {
    return this.#all || this.#left.size > 0
  }

  #leaves(row: string, isLeft: boolean): void {
    if (isLeft) this.#left.add(row)
    else this.#left.delete(row)
  }
}
