import type { Io } from '../../core/io.ts'
import type { AgentStatus } from '../model/tasks/agent-status.ts'
import type { Spent } from '../../core/work/budget.ts'
import type { HubChange } from '../model/hub-ledger.ts'
import type { HubVersion } from '../model/hub-protocol.ts'
import type { PipelineView } from '../model/tasks/pipeline.ts'
import type { Schedule } from '../model/plans/schedule.ts'
import type { TaskNote } from '../model/tasks/task-note.ts'
import type { KeptText, TryBundle } from '../model/tasks/task-try.ts'
import type { AgentQuestion, Task, TaskState } from '../model/tasks/task.ts'
import type { AddedTask, Registration } from '../engine/hub.ts'
import type { ListedKey } from '../model/access/hub-key.ts'
import type { HubState } from '../model/hub-state.ts'
import type { RemoteHub } from '../engine/remote-hub.ts'
import type { LinkWish } from '../model/access/sign-in.ts'
import type { SentCheck } from '../engine/texts/task-texts.ts'
import type { LateWork, Response } from '../engine/task-work.ts'
import type {
  AnswerOf,
  FieldsOf,
  FilledParams,
  OperationName,
  OperationsWith,
  SentFields,
} from '../model/operations/operations.ts'
import type { ConnectionParts } from './hub-connection.ts'
import { randomUUID } from 'node:crypto'
import { defined } from '../../base/defined.ts'
import { UsageError } from '../../core/io.ts'
import { parseTask } from '../model/tasks/task.ts'
import { HubAway, HubRefused, HubUntrusted } from '../engine/remote-hub.ts'
import { maskWithin } from '../../safety/redaction.ts'
import { readSettings } from '../../settings/settings.ts'
import { placeOf } from '../../home/place.ts'
import { hubPlace } from './hub-address.ts'
import { HubConnection } from './hub-connection.ts'
import { OperatorClient } from './operator-client.ts'

/** Selects tasks; `id` is the beginning or the end of an id. */
export type TaskFilter = {
  states?: readonly TaskState[]
  workspace?: string
  agent?: string
  pipeline?: string
  id?: string
}

/** How many tasks one request fetches. */
const pageRows = 500

function queryOf({ states, ...others }: TaskFilter & { limit: number; after?: string }): FieldsOf<'GET /api/tasks'> {
  return defined({ state: states?.join(','), ...others })
}

/** The verbs of tasks, pipelines and schedules: the last words of their operations. */
export type TaskVerb = VerbOf<'tasks', Task>
export type PipelineVerb = VerbOf<'pipelines', PipelineView>
export type ScheduleVerb = VerbOf<'schedules', Schedule>
type VerbOf<Of extends string, Answer> =
  OperationsWith<`POST /api/${Of}/:id/${string}`, Answer> extends infer N
    ? N extends `POST /api/${Of}/:id/${infer Verb}`
      ? Verb extends `${string}/${string}`
        ? never
        : Verb
      : never
    : never

export type NewTask = Omit<AddedTask, 'by'>

/** The hub's answer to the code of an invitation: the key that it made, and its version and time. */
type JoinedKey = ListedKey & HubVersion & { now: number }

/** The requests of agents and people to a hub in another process; those of operators are in `operators`. */
export class HubClient implements RemoteHub {
  /** The requests of operators. */
  readonly operators: OperatorClient
  #connection: HubConnection
  #mask: (text: string) => string
  /** Numbers the requests for work that this process sends, so that the hub knows their order. */
  #asked = { run: randomUUID(), number: 0 }

  /** `mask` hides secrets in an agent's reports about its tasks. Text that a person wrote is sent unchanged. */
  constructor(place: ConnectionParts, mask: (text: string) => string = (text) => text) {
    this.#connection = new HubConnection(place)
    this.operators = new OperatorClient(this.#connection)
    this.#mask = mask
  }

  get url(): string {
    return this.#connection.url
  }

  /** Says which side has to be updated if the hub speaks a protocol other than ours. */
  skew(signal?: AbortSignal): Promise<string | undefined> {
    return this.#connection.skew(signal)
  }

  /** Performs an operation of the hub. */
  call<N extends OperationName>(
    name: N,
    params: FilledParams<N>,
    fields?: SentFields<N>,
    signal?: AbortSignal,
  ): Promise<AnswerOf<N>> {
    return this.#connection.call(name, params, fields, signal)
  }

  /** The name and role under which the hub knows us. */
  me(signal?: AbortSignal) {
    return this.call('GET /api/me', {}, {}, signal)
  }

  /** Revokes the key that this client uses. */
  endKey(signal: AbortSignal) {
    return this.call('POST /api/me/end', {}, {}, signal)
  }

  /** Makes a key of the role `agent` for one run of the agent of this name. */
  lend(name: string) {
    return this.call('POST /api/lent-keys', {}, { name })
  }

  /** Exchanges the code of an invitation for a key whose secret has this hash. No key is needed. */
  join(code: string, hash: string, signal?: AbortSignal): Promise<JoinedKey> {
    return this.#connection.ask('POST', '/api/join', { code, hash }, signal)
  }

  /** Makes a link by which a browser signs in at the hub's page. */
  makeLink(wish: LinkWish) {
    return this.call('POST /api/links', {}, wish)
  }

  /** The whole state of the hub, with all tasks that match the filter. */
  async state(filter: TaskFilter = {}): Promise<HubState & { place: string }> {
    const state = await this.call('GET /api/state', {}, queryOf({ limit: pageRows, ...filter }))
    const tasks = state.tasks.map(parseTask)
    if (state.next !== undefined) for await (const page of this.taskPages(filter, state.next)) tasks.push(...page)
    return { ...state, tasks }
  }

  /** All tasks that match the filter, newest first, read page by page. */
  async tasks(filter: TaskFilter = {}): Promise<Task[]> {
    const tasks: Task[] = []
    for await (const page of this.taskPages(filter)) tasks.push(...page)
    return tasks
  }

  /** The tasks that match the filter, page by page, newest first. */
  async *taskPages(filter: TaskFilter = {}, from?: string): AsyncGenerator<Task[]> {
    for (let after = from; ;) {
      const query = queryOf(defined({ limit: pageRows, ...filter, after }))
      const answer = await this.#connection.open('GET /api/tasks', {}, query)
      const rows = (await this.#connection.heard(() => answer.json())) as unknown[]
      yield rows.map(parseTask)
      const next = answer.headers['x-next']
      if (typeof next !== 'string') return
      after = decodeURIComponent(next)
    }
  }

  async task(id: string): Promise<Task> {
    return parseTask(await this.call('GET /api/tasks/:id', { id }))
  }

  async add(task: NewTask, signal?: AbortSignal): Promise<Task> {
    return parseTask(await this.call('POST /api/tasks', {}, task, signal))
  }

  /** Answers the question whether a workspace that has exceeded its daily cap may continue. */
  answerDay(workspace: string, picks: readonly string[]) {
    return this.call('POST /api/days/answer', {}, { workspace, picks })
  }

  /** Adds a plan as a whole. `id` is chosen by the caller, so that a request that is sent again adds nothing. */
  addPlan(plan: FieldsOf<'POST /api/pipelines'>) {
    return this.call('POST /api/pipelines', {}, plan)
  }

  pipelines() {
    return this.call('GET /api/pipelines', {})
  }

  /** Calls a verb of a pipeline, such as `cancel`. */
  tellPipeline<V extends PipelineVerb>(id: string, verb: V, body?: SentFields<`POST /api/pipelines/:id/${V}`>) {
    return this.#callOf(`POST /api/pipelines/:id/${verb}`, id, body)
  }

  schedules() {
    return this.call('GET /api/schedules', {})
  }

  /** Calls a verb of a schedule: `pause`, `resume` or `remove`. */
  tellSchedule(id: string, verb: ScheduleVerb) {
    return this.call(`POST /api/schedules/:id/${verb}`, { id })
  }

  async attachment(id: string, number: number, signal?: AbortSignal): Promise<Uint8Array> {
    const answer = await this.#connection.open('GET /api/tasks/:id/attachments/:number', { id, number }, {}, signal)
    return this.#connection.heard(() => answer.bytes(), signal)
  }

  /** Calls a verb of a task, such as `cancel` or `respond`. */
  async tell<V extends TaskVerb>(
    id: string,
    verb: V,
    body?: SentFields<`POST /api/tasks/:id/${V}`>,
    signal?: AbortSignal,
  ): Promise<Task> {
    return parseTask(await this.#callOf(`POST /api/tasks/:id/${verb}`, id, body && this.#masked(body), signal))
  }

  respond(ticket: string, agent: string, response: Response, signal?: AbortSignal): Promise<Task> {
    return this.tell(ticket, 'respond', { agent, ...response }, signal)
  }

  /** Sends a long text of a task, such as its diff. */
  sendText(ticket: string, text: string, signal?: AbortSignal): Promise<KeptText> {
    return this.sendPart(ticket, Buffer.from(this.#mask(text)), signal)
  }

  async bundleMissing(ticket: string, bundle: TryBundle, signal?: AbortSignal): Promise<string[]> {
    return (await this.call('POST /api/tasks/:id/bundle', { id: ticket }, { bundle }, signal)).missing
  }

  /** Sends a part of a bundle unchanged: secrets inside the files of the work cannot be hidden there. */
  sendPart(ticket: string, bytes: Uint8Array, signal?: AbortSignal): Promise<KeptText> {
    return this.#connection.call('POST /api/tasks/:id/texts', { id: ticket }, bytes, signal)
  }

  late(ticket: string, agent: string, work: LateWork, signal?: AbortSignal): Promise<Task> {
    return this.tell(ticket, 'late', { agent, ...work }, signal)
  }

  /** The bytes of a bundle, starting at an offset. */
  bundle(id: string, number: number, from: number, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
    return this.#pieces('GET /api/tasks/:id/tries/:number/bundle', { id, number }, { from }, signal)
  }

  /** Stores the results of checks that termaite ran on the work of a task. */
  checked(id: string, checks: readonly SentCheck[], signal?: AbortSignal): Promise<Task> {
    return this.tell(id, 'checks', { checks }, signal)
  }

  /** All notes of a task, the oldest first. */
  async notes(id: string): Promise<TaskNote[]> {
    const all: TaskNote[] = []
    for (let before = Number.MAX_SAFE_INTEGER; ;) {
      const { notes } = await this.call('GET /api/tasks/:id/notes', { id }, { most: 500, before })
      all.unshift(...notes)
      if (notes.length === 0 || notes[0]!.number === 1) return all
      before = notes[0]!.number
    }
  }

  /** The diff of a try of a task, piece by piece. */
  diff(id: string, number: number, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
    return this.#pieces('GET /api/tasks/:id/tries/:number/diff', { id, number }, {}, signal)
  }

  register(as: Registration) {
    return this.call('POST /api/agents', {}, as)
  }

  wait(agent: string, seconds: number, signal: AbortSignal) {
    this.#asked.number++
    return this.call('POST /api/agents/:id/wait', { id: agent }, { timeout: seconds, asked: this.#asked }, signal)
  }

  /** The names that a task may be for: the agents that are registered, and those that have a key and may register later. */
  async agentNames(): Promise<string[]> {
    // Only an admin may read the keys.
    const [agents, keys] = await Promise.all([this.agents(), this.operators.keys().catch(() => [])])
    const keyed = keys.filter(({ role }) => role === 'agent').map(({ name }) => name)
    return [...new Set([...agents.map(({ id }) => id), ...keyed])].toSorted()
  }

  agents(signal?: AbortSignal) {
    return this.call('GET /api/agents', {}, {}, signal)
  }

  agent(id: string) {
    return this.call('GET /api/agents/:id', { id })
  }

  /** Stores an agent's question at the hub. If the agent answers it itself in the meantime, the caller withdraws the question. */
  ask(agent: string, asked: Omit<AgentQuestion, 'at'>, signal?: AbortSignal) {
    return this.call('POST /api/agents/:id/ask', { id: agent }, this.#masked(asked), signal)
  }

  withdraw(agent: string) {
    return this.call('POST /api/agents/:id/withdraw', { id: agent })
  }

  answerAgent(agent: string, picks: readonly string[]) {
    return this.call('POST /api/agents/:id/answer', { id: agent }, { picks })
  }

  spent(agent: string, all: Spent) {
    return this.call('POST /api/agents/:id/spent', { id: agent }, all)
  }

  /** Reports the status of an agent. */
  report(agent: string, status: AgentStatus) {
    return this.call('POST /api/agents/:id/status', { id: agent }, this.#masked(status))
  }

  /** Performs an operation on the thing with this id. */
  #callOf<N extends OperationName>(name: N, id: string, fields?: SentFields<N>, signal?: AbortSignal) {
    return this.call(name, { id } as FilledParams<N>, fields, signal)
  }

  #masked<T extends object>(fields: T): T {
    return maskWithin(fields, this.#mask) as T
  }

  /** A long answer, piece by piece. */
  #pieces<N extends OperationName>(name: N, params: FilledParams<N>, fields: SentFields<N>, signal?: AbortSignal) {
    return this.#connection.pieces(() => this.#connection.open(name, params, fields, signal), signal)
  }

  /** The current place in the stream of changes. */
  async changesPlace(signal?: AbortSignal): Promise<string> {
    const { place } = await this.call('GET /api/state', {}, { limit: 1 }, signal)
    return place
  }

  /**
   * Streams the changes after a number, or after the `place` of a state. Throws HubRefused if the hub no longer keeps those changes; then
   * the caller must read the whole state again.
   */
  async *changes(after: number | string, signal: AbortSignal): AsyncGenerator<HubChange> {
    const decoder = new TextDecoder()
    let text = ''
    const path = `/api/events?after=${encodeURIComponent(after)}`
    const asked = () => this.#connection.send('GET', path, undefined, signal)
    for await (const piece of this.#connection.pieces(asked, signal)) {
      const events = (text + decoder.decode(piece, { stream: true })).split('\n\n')
      text = events.pop()!
      for (const event of events) {
        const [, type, data] = /^event: (\w+)\ndata: (.*)$/m.exec(event) ?? []
        if (type === 'lost') throw new HubRefused(410, `changes after ${after} are not kept any more`)
        if (data !== undefined) yield JSON.parse(data) as HubChange
      }
    }
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

/** Turns a failed call to the hub into an error whose message is meant for the person. */
export function faultOf({ url }: HubClient, error: unknown): unknown {
  if (error instanceof HubUntrusted) return new UsageError(error.message, 1)
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
  const found = await hub.tasks({ id: typed })
  if (found.length === 1) return found[0]!
  // For a task that was removed, the hub's refusal says how the task ended.
  if (found.length === 0)
    await hub.task(typed).catch((error: unknown) => {
      if (error instanceof HubRefused && error.status === 410) throw error
    })
  throw new UsageError(
    found.length === 0 ? `there is no task ${typed}.` : `${found.length} tasks match ${typed}: type more of the id.`,
    1,
  )
}

/** The end of an id: the part that a person types. */
export const shortId = (id: string) => id.slice(-8)
