import type { Spent } from '../../core/work/budget.ts'
import type { HubChange } from '../../core/work/hub-ledger.ts'
import type { AgentQuestion, HubAgent, Task } from '../../core/work/task.ts'
import type { AgentNow, GivenTicket, RemoteHub } from '../../hub/remote-hub.ts'
import type { Registration, Response } from '../../hub/hub.ts'
import type { NewTask as HubTask } from '../../hub/task-rules.ts'
import type { HubCaller, HubRole } from '../../core/work/hub-key.ts'
import type { ListedKey, NewKey } from '../../hub/hub-keys.ts'
import type { LinkWish, NewLink } from '../../hub/sign-ins.ts'
import type { KeySource } from './hub-key-source.ts'
import type { Io } from '../../core/io.ts'
import { fetchMessage } from '../../base/error-message.ts'
import { parseTask } from '../../core/work/task.ts'
import { maskWithin } from '../../safety/redaction.ts'
import { HubAway, HubRefused } from '../../hub/remote-hub.ts'
import { UsageError } from '../../core/io.ts'
import { placeOf } from '../place.ts'
import { readSettings } from '../../settings/settings.ts'
import { hubPlace } from './hub-address.ts'
import { fetchWithKey, fixedKey } from './hub-key-source.ts'

/** The keys of a hub for a person who may change them. */
export interface KeyDesk {
  keys(): Promise<ListedKey[]>
  addKey(name: string, role: HubRole): Promise<NewKey>
  /** Returns the new secret, or the file that holds it. */
  rotateKey(nameOrId: string): Promise<NewKey | { file: string }>
  revokeKey(nameOrId: string): Promise<ListedKey>
}

export type NewTask = Omit<HubTask, 'by'>

/** Reaches the hub over HTTP from another process. */
export class HubClient implements RemoteHub, KeyDesk {
  #url: () => string
  #source: KeySource
  #mask: (text: string) => string
  #env: Io['env']

  /** `env` names the proxy, if there is one. `mask` hides secrets in what an agent tells the hub of its tasks; a person's own words need none. */
  constructor(
    { url, key, env = {} }: { url: string | (() => string); key?: string | KeySource; env?: Io['env'] },
    mask: (text: string) => string = (text) => text,
  ) {
    this.#url = typeof url === 'string' ? () => url : url
    this.#source = typeof key === 'object' ? key : fixedKey(key)
    this.#mask = mask
    this.#env = env
  }

  get url(): string {
    return this.#url()
  }

  /** The client that the hub takes us for. */
  me(signal?: AbortSignal): Promise<HubCaller> {
    return this.#ask('GET', '/api/me', undefined, signal)
  }

  /** Ends the key that this client uses. */
  endKey(signal: AbortSignal): Promise<object> {
    return this.#ask('POST', '/api/me/end', {}, signal)
  }

  /** Makes a key of the role `agent` for one run of the agent of this name. */
  lend(name: string): Promise<NewKey> {
    return this.#ask('POST', '/api/lent-keys', { name })
  }

  keys(): Promise<ListedKey[]> {
    return this.#ask('GET', '/api/keys')
  }

  addKey(name: string, role: HubRole): Promise<NewKey> {
    return this.#ask('POST', '/api/keys', { name, role })
  }

  rotateKey(nameOrId: string): Promise<NewKey | { file: string }> {
    return this.#ask('POST', `/api/keys/${encodeURIComponent(nameOrId)}/rotate`, {})
  }

  revokeKey(nameOrId: string): Promise<ListedKey> {
    return this.#ask('POST', `/api/keys/${encodeURIComponent(nameOrId)}/revoke`, {})
  }

  /** Makes a link by which a browser signs in at the hub's page. */
  makeLink(wish: LinkWish): Promise<NewLink> {
    return this.#ask('POST', '/api/links', wish)
  }

  state(): Promise<{ seq: number; agents: AgentNow[]; tasks: Task[] }> {
    return this.#ask('GET', '/api/state')
  }

  async tasks(filter: Record<string, string> = {}): Promise<Task[]> {
    return (await this.#ask<unknown[]>('GET', `/api/tasks?${new URLSearchParams(filter)}`)).map(parseTask)
  }

  async task(id: string): Promise<Task> {
    return parseTask(await this.#ask('GET', `/api/tasks/${encodeURIComponent(id)}`))
  }

  async add(task: NewTask, signal?: AbortSignal): Promise<Task> {
    return parseTask(await this.#ask('POST', '/api/tasks', task, signal))
  }

  /** Calls a verb of a task, such as `cancel` or `respond`. */
  async tell(id: string, verb: string, body: object = {}, signal?: AbortSignal): Promise<Task> {
    return parseTask(
      await this.#ask(
        'POST',
        `/api/tasks/${encodeURIComponent(id)}/${verb}`,
        maskWithin(body, this.#mask) as object,
        signal,
      ),
    )
  }

  respond(ticket: string, agent: string, response: Response, signal?: AbortSignal): Promise<Task> {
    return this.tell(ticket, 'respond', { agent, ...response }, signal)
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

  /** Keeps a question of the agent at the hub; a question that the agent has meanwhile answered itself is withdrawn. */
  ask(agent: string, asked: Omit<AgentQuestion, 'at'>, signal?: AbortSignal): Promise<HubAgent> {
    const body = maskWithin(asked, this.#mask) as object
    return this.#ask('POST', `/api/agents/${encodeURIComponent(agent)}/ask`, body, signal)
  }

  withdraw(agent: string): Promise<HubAgent> {
    return this.#ask('POST', `/api/agents/${encodeURIComponent(agent)}/withdraw`, {})
  }

  answerAgent(agent: string, text: string): Promise<HubAgent> {
    return this.#ask('POST', `/api/agents/${encodeURIComponent(agent)}/answer`, { text })
  }

  spent(agent: string, all: Spent): Promise<object> {
    return this.#ask('POST', `/api/agents/${encodeURIComponent(agent)}/spent`, all)
  }

  /** Streams the changes after a number. Throws HubRefused when they are not kept any more; then everything must be read again. */
  async *changes(after: number, signal: AbortSignal): AsyncGenerator<HubChange> {
    const answer = await this.#fetch('GET', `/api/events?after=${after}`, undefined, signal)
    const read = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
    for (let text = ''; ;) {
      const { value, done } = await this.#heard(() => read.read(), signal)
      if (done) return
      const events = (text + value).split('\n\n')
      text = events.pop()!
      for (const event of events) {
        const [, type, data] = /^event: (\w+)\ndata: (.*)$/m.exec(event) ?? []
        if (type === 'lost') throw new HubRefused(410, `changes after ${after} are not kept any more`)
        if (data !== undefined) yield JSON.parse(data) as HubChange
      }
    }
  }

  async #ask<T>(method: string, path: string, body?: object, signal?: AbortSignal): Promise<T> {
    const answer = await this.#fetch(method, path, body, signal)
    return (await this.#heard(() => answer.json(), signal)) as T
  }

  async #fetch(method: string, path: string, body?: object, signal?: AbortSignal): Promise<globalThis.Response> {
    const headers = new Headers()
    if (body) headers.set('content-type', 'application/json')
    const sent = { method, headers, body: body && JSON.stringify(body), signal }
    const answer = await this.#heard(() => fetchWithKey(this.#source, `${this.url}${path}`, sent, this.#env), signal)
    if (answer.ok) return answer
    throw new HubRefused(answer.status, await this.#heard(() => saidIn(answer), signal))
  }

  /** Turns a connection that fails, also in the middle of an answer, into HubAway. */
  async #heard<T>(listen: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    try {
      return await listen()
    } catch (error) {
      if (signal?.aborted || error instanceof HubAway || error instanceof HubRefused) throw error
      throw new HubAway(`no hub answers at ${this.url}: ${fetchMessage(error)}`)
    }
  }
}

async function saidIn(answer: globalThis.Response): Promise<string> {
  const text = await answer.text()
  try {
    const { error } = JSON.parse(text) as { error?: string | { message?: string } }
    return (typeof error === 'string' ? error : error?.message) ?? text
  } catch {
    return text || `the hub answered with HTTP ${answer.status}`
  }
}

/** Runs `work` with the hub. Faults become UsageErrors that say what to do. */
export async function withHub<T>(io: Io, work: (hub: HubClient) => Promise<T>, server?: string): Promise<T> {
  const { home } = placeOf(io)
  const hub = new HubClient(hubPlace(io, await readSettings({ home }, { env: io.env }), server))
  try {
    return await work(hub)
  } catch (error) {
    throw faultOf(hub, error)
  }
}

/** The words for the person about a failed call to the hub. */
export function faultOf({ url }: HubClient, error: unknown): unknown {
  if (error instanceof HubAway) return new UsageError(`${error.message}. Start the hub: termaite serve`, 1)
  if (error instanceof HubRefused && error.status === 401) return unknownKey(url)
  return error instanceof HubRefused ? new UsageError(error.message, 1) : error
}

/** Tells the person that a hub refused our key. */
export const unknownKey = (url: string) =>
  new UsageError(
    `the hub at ${url} does not know our key. Make one on its machine with: termaite hub keys add <name>. Then set TERMAITE_HUB_KEY to it here.`,
    1,
  )

/** Finds the task whose id begins or ends with what was typed: ids that were made at the same time begin alike. */
export async function taskLike(hub: HubClient, typed: string | undefined): Promise<Task> {
  if (typed === undefined) throw new UsageError('which task? `termaite task list` shows them.')
  const all = await hub.tasks()
  const found = all.filter(({ id }) => id.startsWith(typed) || id.endsWith(typed))
  if (found.length === 1) return found[0]!
  throw new UsageError(
    found.length === 0 ? `there is no task ${typed}.` : `${found.length} tasks match ${typed}: type more of the id.`,
    1,
  )
}

/** The end of an id, as much as a person types. */
export const shortId = (id: string) => id.slice(-8)
