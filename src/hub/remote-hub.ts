import type { Spent } from '../core/work/budget.ts'
import type { HubAgent, Task } from '../core/work/task.ts'
import type { Registration, Response } from './hub.ts'
import type { Given } from './waiting-agents.ts'

/** The hub answered and refused the request; the message says why. */
export class HubRefused extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** No hub answered at its address. */
export class HubAway extends Error {}

export type AgentNow = HubAgent & { waits: boolean; about: boolean; task?: string }
export type GivenTicket = Exclude<Given, { type: 'task' }> | { type: 'task'; task: Task; ticket: string }

/** The hub as an agent's process sees it. Every call rejects with HubAway or HubRefused. */
export interface RemoteHub {
  readonly url: string
  register(as: Registration): Promise<HubAgent>
  wait(agent: string, seconds: number, signal: AbortSignal): Promise<GivenTicket>
  agent(id: string): Promise<AgentNow>
  spent(agent: string, all: Spent): Promise<object>
  task(id: string): Promise<Task>
  tell(id: string, verb: string, body?: object, signal?: AbortSignal): Promise<Task>
  respond(ticket: string, agent: string, response: Response, signal?: AbortSignal): Promise<Task>
}
