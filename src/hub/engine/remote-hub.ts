import type { AgentStatus } from '../model/tasks/agent-status.ts'
import type { Spent } from '../../core/work/budget.ts'
import type { HubAgent, Task } from '../model/tasks/task.ts'
import type { Registration } from './hub.ts'
import type { LateWork, Response } from './task-work.ts'
import type { AgentNow } from '../model/hub-state.ts'
import type { KeptText, TryBundle } from '../model/tasks/task-try.ts'
import type { GivenTicket } from '../model/hub-state.ts'

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

/** A server answered whose certificate cannot be trusted. The message says why and what to do. */
export class HubUntrusted extends HubAway {}

/** The hub as an agent's process sees it. Every call rejects with HubAway or HubRefused. */
export interface RemoteHub {
  readonly url: string
  register(as: Registration): Promise<HubAgent>
  wait(agent: string, seconds: number, signal: AbortSignal): Promise<GivenTicket>
  agent(id: string): Promise<AgentNow>
  spent(agent: string, all: Spent): Promise<object>
  report(agent: string, status: AgentStatus): Promise<object>
  task(id: string): Promise<Task>
  /** The content of a file of a task; files are numbered from 1. */
  attachment(id: string, number: number, signal?: AbortSignal): Promise<Uint8Array>
  tell(id: string, verb: string, body?: object, signal?: AbortSignal): Promise<Task>
  sendText(ticket: string, text: string, signal?: AbortSignal): Promise<KeptText>
  /** The ids of those parts of a bundle that the hub does not have yet. */
  bundleMissing(ticket: string, bundle: TryBundle, signal?: AbortSignal): Promise<string[]>
  sendPart(ticket: string, bytes: Uint8Array, signal?: AbortSignal): Promise<KeptText>
  /** Sends the work of a task that the agent has lost; the hub stores it. */
  late(ticket: string, agent: string, work: LateWork, signal?: AbortSignal): Promise<Task>
  respond(ticket: string, agent: string, response: Response, signal?: AbortSignal): Promise<Task>
}
