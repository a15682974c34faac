import type { HubAgent, HubChange, Task } from '../../core/work/task.ts'
import type { Given } from '../../hub/waiters.ts'
import type { Registration, Response } from '../../hub/hub.ts'
import type { NewTask as HubTask } from '../../hub/new-task.ts'
import type { HubPlace } from './address.ts'
import { whyUnanswered } from '../../base/words.ts'

/** What the hub refused, and why. */
export class HubRefused extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Nobody answered at that address. */
export class HubAway extends Error {}

export type NewTask = Omit<HubTask, 'by'>

export type AgentNow = HubAgent & { waits: boolean; about: boolean; task?: string }
export type GivenTicket = Exclude<Given, { type: 'task' }> | { type: 'task'; task: Task; ticket: string }

/** The hub, from another process. */
export class HubClient {
  #place: HubPlace

  constructor(place: HubPlace) {
    this.#place = place
  }

  get url(): string {
    return this.#place.url
  }

  state(): Promise<{ seq: number; agents: AgentNow[]; tasks: Task[] }> {
    return this.#ask('GET', '/api/state')
  }

  tasks(filter: Record<string, string> = {}): Promise<Task[]> {
    return this.#ask('GET', `/api/tasks?${new URLSearchParams(filter)}`)
  }

  task(id: string): Promise<Task> {
    return this.#ask('GET', `/api/tasks/${encodeURIComponent(id)}`)
  }

  add(task: NewTask): Promise<Task> {
    return this.#ask('POST', '/api/tasks', task)
  }

  /** One of the verbs of a task that a person or its agent has. */
  tell(id: string, verb: string, body: object = {}): Promise<Task> {
    return this.#ask('POST', `/api/tasks/${encodeURIComponent(id)}/${verb}`, body)
  }

  respond(ticket: string, agent: string, response: Response): Promise<Task> {
    return this.tell(ticket, 'respond', { agent, ...response })
  }

  register(as: Registration): Promise<HubAgent> {
    return this.#ask('POST', '/api/agents', as)
  }

  wait(agent: string, seconds: number, signal: AbortSignal): Promise<GivenTicket> {
    return this.#ask('POST', `/api/agents/${encodeURIComponent(agent)}/wait`, { timeout: seconds }, signal)
  }

  agents(signal?: AbortSignal): Promise<AgentNow[]> {
    return this.#ask('GET', '/api/agents', undefined, signal)
  }

  agent(id: string): Promise<AgentNow> {
    return this.#ask('GET', `/api/agents/${encodeURIComponent(id)}`)
  }

  spent(agent: string, tokens: number): Promise<object> {
    return this.#ask('POST', `/api/agents/${encodeURIComponent(agent)}/tokens`, { tokens })
  }

  /** Every change after a number, as it is kept; ends when the hub does. */
  async *changes(after: number, signal: AbortSignal): AsyncGenerator<HubChange> {
    const answer = await this.#fetch('GET', `/api/events?after=${after}`, undefined, signal)
    let text = ''
    for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk
      const events = text.split('\n\n')
      text = events.pop()!
      for (const event of events) {
        const data = /^data: (.*)$/m.exec(event)?.[1]
        if (data !== undefined && /^id: /m.test(event)) yield JSON.parse(data) as HubChange
      }
    }
  }

  async #ask<T>(method: string, path: string, body?: object, signal?: AbortSignal): Promise<T> {
    const answer = await this.#fetch(method, path, body, signal)
    return (await answer.json()) as T
  }

  async #fetch(method: string, path: string, body?: object, signal?: AbortSignal): Promise<globalThis.Response> {
    const { url, key } = this.#place
    let answer: globalThis.Response
    try {
      answer = await fetch(`${url}${path}`, {
        method,
        headers: {
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
          ...(body ? { 'content-type': 'application/json' } : {}),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
        ...(signal ? { signal } : {}),
      })
    } catch (error) {
      if (signal?.aborted) throw error
      throw new HubAway(`nobody answers at ${url}: ${whyUnanswered(error)}`)
    }
    if (answer.ok) return answer
    throw new HubRefused(answer.status, await saidIn(answer))
  }
}

async function saidIn(answer: globalThis.Response): Promise<string> {
  const text = await answer.text()
  try {
    const { error } = JSON.parse(text) as { error?: string | { message?: string } }
    return (typeof error === 'string' ? error : error?.message) ?? text
  } catch {
    return text || `it answered ${answer.status}`
  }
}
