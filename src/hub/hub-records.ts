import type { InboxMark } from '../core/work/inbox.ts'
import type { HubChange, HubLedger } from '../core/work/hub-ledger.ts'
import type { HubAgent, HeldTask, QueuedTask, Task } from '../core/work/task.ts'
import type { Clock } from '../base/clock.ts'
import { defined } from '../base/defined.ts'
import { markKey } from '../core/work/inbox.ts'
import { Ages } from './ages.ts'
import { isFinished, isHeld, leaseMs } from './task-rules.ts'

type Parts = {
  ledger: HubLedger
  clock: Clock
  /** Called with changes once they are durable. */
  published(changes: readonly HubChange[]): void
}

/** How long every agent has, after a start of the hub, to be heard in its task: while the hub was away it could not be. */
const startMs = 10 * 60_000

type Unnumbered<C> = C extends unknown ? Omit<C, 'seq' | 'at'> : never

/** The hub's tasks and agents in memory; `keep` makes all changes durable before they are published. */
export class HubRecords {
  readonly tasks = new Map<string, Task>()
  /** Queued tasks that wait for an agent and for nothing else. */
  readonly ready = new TaskQueue()
  /** Tasks that an agent has. */
  readonly held = new Map<string, HeldTask>()
  /** Queued tasks that may wait for others: they are looked at when they come, and when a task that they need is over. */
  readonly unsure = new Set<string>()
  readonly agents = new Map<string, HubAgent>()
  /** The marks of people on the items of their inboxes. */
  readonly marks = new Map<string, InboxMark>()
  /** How long ago each open task moved, or its agent was heard in it. */
  readonly taskAges: Ages
  /** How long ago each agent sent anything. */
  readonly agentAges: Ages
  #dependents = new Map<string, string[]>()
  #parts: Parts
  #seq = 0
  #changes: HubChange[] = []
  /** Take the ages of changed tasks back when the changes cannot be stored. */
  #restorers: (() => void)[] = []
  #changed = new Set<string>()
  #watchers = new Set<AbortController>()

  constructor(parts: Parts) {
    this.#parts = parts
    this.taskAges = new Ages(parts.clock)
    this.agentAges = new Ages(parts.clock)
    this.#load()
  }

  get seq(): number {
    return this.#seq
  }

  add(task: QueuedTask): void {
    this.#enter(task)
    this.taskAges.touch(task.id)
    const { notes: _notes, history, tries: _tries, ...set } = task
    this.#note({ type: 'task', id: task.id, set, step: history[0] })
  }

  /** Replaces a task by its next state; the published change is the difference between the two. */
  replace<T extends Task>(next: T): T {
    const before = this.tasks.get(next.id)
    if (!before || before === next) return next
    // The place in the queue follows from the priority, which may change.
    this.ready.remove(before)
    this.#put(next)
    this.#restorers.push(this.taskAges.restorer(next.id))
    if (isFinished(next)) this.taskAges.forget(next.id)
    else if (before.history !== next.history || before.heard !== next.heard) this.taskAges.touch(next.id)
    this.#note(difference(before, next))
    return next
  }

  know(agent: HubAgent): void {
    if (this.agents.get(agent.id)?.seen !== agent.seen) this.agentAges.touch(agent.id)
    this.agents.set(agent.id, agent)
    this.#note({ type: 'agent', agent })
  }

  /** An agent has sent something. The moment is written with the agent's next change. */
  hear(agent: HubAgent): void {
    this.agents.set(agent.id, { ...agent, seen: this.#parts.clock.now() })
    this.agentAges.touch(agent.id)
  }

  forget(id: string): void {
    this.agents.delete(id)
    this.agentAges.forget(id)
    this.#note({ type: 'gone', id })
  }

  mark(mark: InboxMark): void {
    this.marks.set(markKey(mark), mark)
    this.#note({ type: 'mark', mark })
  }

  /** Makes all changes durable. Changes that could not be stored did not happen: the records are read from the ledger again. */
  keep(): void {
    const changes = this.#changes.splice(0)
    const tasks = [...this.#changed].flatMap((id) => this.tasks.get(id) ?? [])
    this.#changed.clear()
    if (changes.length === 0) return
    try {
      this.#parts.ledger.keep(changes, tasks)
    } catch (error) {
      for (const restore of this.#restorers.splice(0).toReversed()) restore()
      this.#load()
      throw error
    }
    this.#restorers = []
    this.#parts.published(changes)
    for (const watcher of this.#watchers) watcher.abort('changed')
  }

  /** Resolves with the next change that is kept, or when the time is over. */
  async nextChange(clock: Clock, until: number, signal: AbortSignal): Promise<void> {
    const changed = new AbortController()
    this.#watchers.add(changed)
    await clock.sleep(until - clock.elapsed(), AbortSignal.any([signal, changed.signal]))
    this.#watchers.delete(changed)
  }

  #load(): void {
    const { seq, agents, tasks, marks } = this.#parts.ledger.load()
    this.#seq = seq
    for (const known of [this.tasks, this.ready, this.held, this.unsure, this.#dependents, this.agents, this.marks])
      known.clear()
    for (const mark of marks) this.marks.set(markKey(mark), mark)
    for (const task of tasks) this.#enter(task)
    for (const task of tasks) this.#learnAge(task)
    for (const agent of agents) {
      this.agents.set(agent.id, agent)
      this.agentAges.learn(agent.id, agent.seen)
    }
  }

  #learnAge(task: Task): void {
    if (isFinished(task)) return
    const most = isHeld(task) ? leaseMs(task) - Math.min(leaseMs(task), startMs) : Infinity
    this.taskAges.learn(task.id, Math.max(task.moved, task.heard ?? -Infinity), most)
  }

  #enter(task: Task): void {
    for (const need of task.needs) {
      const dependents = this.#dependents.get(need)
      if (dependents) dependents.push(task.id)
      else this.#dependents.set(need, [task.id])
    }
    this.#put(task)
  }

  #put(task: Task): void {
    this.tasks.set(task.id, task)
    if (isHeld(task)) this.held.set(task.id, task)
    else this.held.delete(task.id)
    if (task.state === 'QUEUED' && task.needs.length === 0) return this.ready.put(task)
    this.ready.remove(task)
    if (task.state === 'QUEUED') this.unsure.add(task.id)
    else if (isFinished(task)) for (const id of this.#dependents.get(task.id) ?? []) this.unsure.add(id)
  }

  #note(change: Unnumbered<HubChange>): void {
    this.#changes.push({ seq: ++this.#seq, at: this.#parts.clock.now(), ...change })
    if (change.type === 'task') this.#changed.add(change.id)
  }
}

/** Describes how one state of a task became the next: the fields that are set and unset, the note and the step that are new. */
function difference(before: Task, next: Task): Unnumbered<HubChange> {
  const { notes, history, tries = [], ...fields } = next
  const old: Record<string, unknown> = before
  const set = Object.fromEntries(Object.entries(fields).filter(([key, value]) => value !== old[key]))
  const unset = (['why', 'agent', 'heard', 'question', 'result', 'wish'] as const).filter(
    (key) => before[key] !== undefined && next[key] === undefined,
  )
  return defined({
    type: 'task' as const,
    id: next.id,
    set,
    unset: unset.length > 0 ? unset : undefined,
    note: notes === before.notes ? undefined : notes.at(-1),
    step: history === before.history ? undefined : history.at(-1),
    try: tries.findLast((each) => !before.tries?.includes(each)),
  })
}

/** Queued tasks in the order in which they are given out; they are read far more often than changed. */
export class TaskQueue {
  #tasks: QueuedTask[] = []

  get tasks(): readonly QueuedTask[] {
    return this.#tasks
  }

  /** Puts a task in its place, instead of its earlier version. */
  put(task: QueuedTask): void {
    const at = this.#placeOf(task)
    this.#tasks.splice(at, this.#tasks[at]?.id === task.id ? 1 : 0, task)
  }

  remove(task: Task): void {
    const at = this.#placeOf(task)
    if (this.#tasks[at]?.id === task.id) this.#tasks.splice(at, 1)
  }

  clear(): void {
    this.#tasks = []
  }

  /** The index of a task, present or not. A task whose priority changes is removed before. */
  #placeOf(task: Task): number {
    let [low, high] = [0, this.#tasks.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (goesBefore(this.#tasks[middle]!, task)) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Orders by priority, then by age. */
function goesBefore(a: Task, b: Task): boolean {
  if (a.priority !== b.priority) return a.priority > b.priority
  return a.created === b.created ? a.id < b.id : a.created < b.created
}
