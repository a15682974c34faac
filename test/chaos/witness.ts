import type { HubChange } from '../../src/hub/model/hub-ledger.ts'
import type { Task } from '../../src/hub/model/tasks/task.ts'
import assert from 'node:assert/strict'
import { ackMs } from '../../src/hub/engine/rules/task-rules.ts'
import { taskIdOf } from '../../src/hub/engine/rules/task-rules.ts'
import { withNote } from '../../src/hub/model/tasks/task-note.ts'

/** The promises of the hub that a run broke. */
export type Faults = {
  /** Answered more than once. */
  doubled: string[]
  lost: string[]
  unfinished: string[]
  /** Held by two agents at once. */
  shared: string[]
  /** Offered to an agent that never received it, and not taken back. */
  astray: string[]
  /** Counted as returned more often than agents gave it up. */
  blamed: string[]
  /** Received before the tasks that it needs were answered. */
  early: string[]
  /** Received by an agent of another workspace, or without a capability that it wants. */
  unfit: string[]
  /** Left waiting while more tasks that come after it than `patience` went to agents that could have had it. */
  passedOver: string[]
  /** Different in the stream of changes than in the hub, or told with a hole or twice. */
  untold: string[]
}

export const noFaults: Faults = {
  doubled: [],
  lost: [],
  unfinished: [],
  shared: [],
  astray: [],
  blamed: [],
  early: [],
  unfit: [],
  passedOver: [],
  untold: [],
}

/** The facts of an agent that the witness has to know. */
export type KnownAgent = { id: string; workspace: string; capabilities: readonly string[] }

/** A step has the time at which its round began; the round may have waited for another one that took the task back. */
const roundMs = 1_000

type Hold = { agent: string; due: number; acked: boolean }
type Wait = { task: Task; since: number }

/** One reader of the stream of changes. */
export type Follower = { name: string; seq: number }

/** Records beside agents and hubs which tasks the agents really had, and every change that the hubs published. */
export class Witness {
  /** The tasks that are over as far as the first follower was told. */
  ended = 0
  #followers: Follower[] = []
  #agents = new Map<string, KnownAgent>()
  #told = new Map<string, Task>()
  /** Each change as the follower that was first had it. */
  #changes = new Map<number, string>()
  #gaps: string[] = []
  #hands = new Map<string, Hold>()
  #receipts = new Map<string, string[]>()
  #answering = new Set<string>()
  #taken = new Map<string, Set<string>>()
  #givenUp = new Map<string, number>()
  #shared: string[] = []
  #early: string[] = []
  #unfit: string[] = []
  #queue: Queue
  #waiting: { count: number; reached(): void }[] = []

  /**
   * `patience`: how many tasks may go before one that should have gone first. A task is chosen for an agent that turns out to be gone while
   * the next one goes to the next agent, and of several hubs one may have a task in its hands while another gives out the next; so a
   * few tasks may, and a task that is forgotten is passed by many.
   */
  constructor(patience: number) {
    this.#queue = new Queue(patience)
  }

  /** A further reader of the changes, from the first one on. The first reader is the one whose tasks are compared with the hub's. */
  follower(): Follower {
    const follower = { name: `follower ${this.#followers.length + 1}`, seq: 0 }
    this.#followers.push(follower)
    return follower
  }

  /** Whether every follower was told of all changes that any of them knows. */
  allTold(): boolean {
    return this.#followers.every(({ seq }) => seq >= this.#changes.size)
  }

  knows(agent: KnownAgent): void {
    this.#agents.set(agent.id, agent)
  }

  /** An agent received a task: no other agent may have it, unless that one did not acknowledge it in time. */
  received(ticket: string, task: Task, agent: string): void {
    const { id, moved, needs, capabilities, workspace } = task
    const other = this.#hands.get(id)
    if (other && other.agent !== agent && (other.acked || moved + roundMs < other.due))
      this.#shared.push(`${ticket}: ${other.agent} and ${agent}`)
    this.#hands.set(id, { agent, due: moved + ackMs, acked: false })
    this.#receipts.set(ticket, [...(this.#receipts.get(ticket) ?? []), agent])
    const open = needs.find((need) => !this.#answering.has(need))
    if (open !== undefined) this.#early.push(`${ticket}: ${open} was not answered`)
    const known = this.#agents.get(agent)!
    if (known.workspace !== workspace || capabilities.some((wanted) => !known.capabilities.includes(wanted)))
      this.#unfit.push(`${ticket}: ${agent}`)
  }

  acked(ticket: string, agent: string): void {
    const hold = this.#hands.get(taskIdOf(ticket))
    if (hold?.agent === agent) hold.acked = true
  }

  /** An agent is about to answer: the hub may know it from now on, though the agent may never hear of that. */
  answers(ticket: string): void {
    this.#answering.add(taskIdOf(ticket))
  }

  /** The hub said yes to an answer. */
  taken(ticket: string): void {
    const id = taskIdOf(ticket)
    this.#taken.set(id, (this.#taken.get(id) ?? new Set()).add(ticket))
  }

  /** An agent is done with it, or gave it up without an answer. */
  letGo(ticket: string, agent: string, givenUp: boolean): void {
    const id = taskIdOf(ticket)
    if (this.#hands.get(id)?.agent === agent) this.#hands.delete(id)
    if (givenUp) this.#givenUp.set(id, (this.#givenUp.get(id) ?? 0) + 1)
  }

  saw(follower: Follower, change: HubChange): void {
    const { name } = follower
    if (change.seq !== follower.seq + 1) this.#gaps.push(`${name}: ${change.seq} came after ${follower.seq}`)
    follower.seq = Math.max(follower.seq, change.seq)
    const text = JSON.stringify(change)
    const known = this.#changes.get(change.seq)
    if (known === undefined) this.#changes.set(change.seq, text)
    else if (known !== text) this.#gaps.push(`${name}: change ${change.seq} is another one`)
    if (follower === this.#followers[0] && change.type === 'task') this.#keep(change)
  }

  /** Resolves when this many tasks are over. */
  async over(count: number): Promise<void> {
    if (this.ended >= count) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push({ count, reached: resolve })
    await promise
  }

  faults(added: readonly string[], tasks: readonly Task[]): Faults {
    const known = new Set(tasks.map(({ id }) => id))
    const ids = (wanted: (task: Task) => boolean) => tasks.filter(wanted).map(({ id }) => id)
    const twice = [...this.#taken].filter(([, tickets]) => tickets.size > 1)
    return {
      doubled: [
        ...ids(({ history }) => history.filter(({ state }) => state === 'COMPLETED').length > 1),
        ...twice.map(([id, tickets]) => `${id}: ${[...tickets].join(' and ')} were both taken`),
      ],
      lost: added.filter((id) => !known.has(id)),
      unfinished: tasks.filter(({ state }) => state !== 'COMPLETED').map(({ id, state }) => `${id} ${state}`),
      shared: this.#shared.map((words) => `${words}; ${historyOf(this.#told.get(taskIdOf(words.split(':')[0]!)))}`),
      astray: tasks.flatMap((task) => this.#astray(task)),
      blamed: ids(({ id, returns }) => returns > (this.#givenUp.get(id) ?? 0)),
      early: this.#early,
      unfit: this.#unfit,
      passedOver: this.#queue.passedOver,
      untold: [...this.#gaps, ...ids((task) => !isSame(task, this.#told.get(task.id)))],
    }
  }

  /** How many offers were made, how many of them reached no agent, and how many changes were told. */
  counts(tasks: readonly Task[]): { handed: number; missed: number; changes: number } {
    const handed = tasks.reduce((sum, { history }) => sum + history.filter(isHandOut).length, 0)
    return { handed, missed: handed - this.#receipts.size, changes: this.#changes.size }
  }

  #keep({ id, set, unset = [], note, step, try: next }: Extract<HubChange, { type: 'task' }>): void {
    const was: Partial<Task> = this.#told.get(id) ?? {}
    const task = {
      ...was,
      ...set,
      notes: note ? withNote(was.notes ?? [], note) : (was.notes ?? []),
      history: [...(was.history ?? []), ...(step ? [step] : [])],
    } as Task
    if (next) task.tries = [...(was.tries ?? []).filter(({ number }) => number !== next.number), next]
    for (const key of unset) delete task[key]
    this.#told.set(id, task)
    if (step) this.#queue.moved(task, step.at, this.#agents.get(task.agent ?? ''))
    if (step?.state !== 'COMPLETED') return
    this.ended++
    for (const { reached } of this.#waiting.filter(({ count }) => this.ended >= count)) reached()
  }

  #astray({ id, history }: Task): string[] {
    let number = 0
    return history.flatMap((step, at) => {
      if (!isHandOut(step)) return []
      const ticket = `${id}.${++number}`
      const receipts = this.#receipts.get(ticket) ?? []
      const next = history[at + 1]
      const had = receipts.length === 1 && (next?.state === 'QUEUED' || next?.by === receipts[0])
      const back = receipts.length === 0 && next?.state === 'QUEUED'
      return had || back
        ? []
        : [`${ticket}: ${receipts.join(', ') || 'nobody'} had it, then ${next?.state} by ${next?.by}`]
    })
  }
}

/** The tasks that wait for an agent and nothing else, by the stream of changes: whether they are given out in their order. */
class Queue {
  readonly passedOver: string[] = []
  #patience: number
  #done = new Set<string>()
  #needing = new Map<string, Task>()
  /** By workspace and capabilities, so that few tasks are looked at for each that is given out. */
  #ready = new Map<string, Map<string, Wait>>()
  /** The tasks that went before one that should have gone first. */
  #passes = new Map<string, string[]>()

  constructor(patience: number) {
    this.#patience = patience
  }

  moved(task: Task, at: number, agent: KnownAgent | undefined): void {
    if (task.state === 'QUEUED') this.#put(task, at)
    if (task.state === 'PENDING_ACK') this.#handed(task, at, agent!)
    if (task.state !== 'COMPLETED') return
    this.#done.add(task.id)
    for (const other of [...this.#needing.values()].filter(({ needs }) => needs.includes(task.id))) this.#put(other, at)
  }

  #put(task: Task, at: number): void {
    // A task that is meant for one agent waits for that one.
    if (task.wish !== undefined) return
    if (!task.needs.every((need) => this.#done.has(need))) return void this.#needing.set(task.id, task)
    this.#needing.delete(task.id)
    const kind = kindOf(task)
    const waits = this.#ready.get(kind) ?? new Map<string, Wait>()
    this.#ready.set(kind, waits.set(task.id, { task, since: at }))
  }

  #handed(task: Task, at: number, agent: KnownAgent): void {
    this.#ready.get(kindOf(task))?.delete(task.id)
    const passes = this.#passes.get(task.id) ?? []
    if (passes.length > this.#patience) this.passedOver.push(`${task.id}: ${passes.join(', ')} went before it`)
    this.#passes.delete(task.id)
    for (const waits of this.#ready.values())
      for (const { task: other, since } of waits.values()) {
        if (!fits(other, agent)) break
        if (since >= at || !goesBefore(other, task)) continue
        this.#passes.set(other.id, [...(this.#passes.get(other.id) ?? []), task.id])
      }
  }
}

/** The steps of a task in one line, so that a fault can be understood. */
const historyOf = (task: Task | undefined) =>
  task?.history.map(({ at, state, by, why = '' }) => `${at} ${state} by ${by} ${why}`).join(', ')

const kindOf = ({ workspace, capabilities }: Task) => [workspace, ...capabilities].join(' ')

const fits = ({ workspace, capabilities }: Task, agent: KnownAgent) =>
  workspace === agent.workspace && capabilities.every((wanted) => agent.capabilities.includes(wanted))

/** The order that the hub promises: by priority, then by age. */
function goesBefore(one: Task, other: Task): boolean {
  return one.priority === other.priority ? one.created < other.created : one.priority > other.priority
}

const isHandOut = ({ state }: { state: string }) => state === 'PENDING_ACK'

function isSame(task: Task, told: Task | undefined): boolean {
  try {
    assert.deepEqual(told, task)
    return true
  } catch {
    return false
  }
}
