import type { Clock } from '../base/clock.ts'
import type { HubAgent, HubChange, Ledger, Task, TaskNote, TaskState, TaskStep } from '../core/work/task.ts'
import { isHeld, isOver, moves } from './task-rules.ts'

type Parts = {
  ledger: Ledger
  clock: Clock
  /** Told of what is durable. */ published(changes: readonly HubChange[]): void
}
type Unnumbered<C> = C extends unknown ? Omit<C, 'seq' | 'at'> : never

/** How much of what is said about one task is kept with it. */
const mostNotes = 200

/** The hub's tasks and agents: changed here at once, and durable before anybody is told. */
export class HubRecords {
  readonly tasks: Map<string, Task>
  /** What is looked through again and again: those that wait for an agent and nothing else, and those that have one. */
  readonly ready = new TaskQueue()
  readonly held = new Map<string, Task>()
  /** Those that may wait for others: looked at when they come, and when one that they need is over. */
  readonly unsure = new Set<string>()
  #dependents = new Map<string, string[]>()
  readonly agents: Map<string, HubAgent>
  #parts: Parts
  #seq: number
  #waiting: HubChange[] = []
  #dirty = new Set<string>()
  #watchers = new Set<AbortController>()

  constructor(parts: Parts) {
    this.#parts = parts
    const { seq, agents, tasks } = parts.ledger.load()
    this.#seq = seq
    this.tasks = new Map()
    for (const task of tasks) this.#enter(task)
    this.agents = new Map(agents.map((agent) => [agent.id, agent]))
  }

  get seq(): number {
    return this.#seq
  }

  add(task: Task): void {
    this.#enter(task)
    const { notes: _, history: __, ...set } = task
    this.#note({ type: 'task', id: task.id, set, step: task.history[0]! })
  }

  /** Moves a task on; what may not follow is refused, so that a task has one story. */
  move(id: string, state: TaskState, by: string, set: Partial<Task> = {}, note?: TaskNote): void {
    const task = this.tasks.get(id)!
    if (!moves[task.state].includes(state)) throw new Error(`a task that is ${task.state} cannot become ${state}`)
    const at = this.#parts.clock.now()
    const step: TaskStep = { at, state, by, ...(set.why === undefined ? {} : { why: set.why }) }
    const unset: (keyof Task)[] = (['why', 'question'] as const).filter((key) => !(key in set) && key in task)
    if (state === 'QUEUED') unset.push(...(['agent', 'heard'] as const).filter((key) => key in task))
    this.#change(id, { state, moved: at, ...set }, { step, unset, ...(note ? { note } : {}) })
  }

  /** Changes a task without moving it. */
  tell(id: string, set: Partial<Task>, note?: TaskNote): void {
    this.#change(id, set, note ? { note } : {})
  }

  know(agent: HubAgent): void {
    this.agents.set(agent.id, agent)
    this.#note({ type: 'agent', agent })
  }

  forget(id: string): void {
    this.agents.delete(id)
    this.#note({ type: 'gone', id })
  }

  /** All that was changed is durable when this returns; what could not be kept did not happen, and the books are read again. */
  keep(): void {
    const changes = this.#waiting.splice(0)
    const tasks = [...this.#dirty].map((id) => this.tasks.get(id)!)
    this.#dirty.clear()
    if (changes.length === 0) return
    try {
      this.#parts.ledger.keep(changes, tasks)
    } catch (error) {
      this.#reload()
      throw error
    }
    this.#parts.published(changes)
    for (const watcher of this.#watchers) watcher.abort('changed')
  }

  /** Resolves with the next change that is kept, or when the time is over. */
  async nextChange(clock: Clock, until: number, signal: AbortSignal): Promise<void> {
    const changed = new AbortController()
    this.#watchers.add(changed)
    await clock.sleep(until - clock.now(), AbortSignal.any([signal, changed.signal]))
    this.#watchers.delete(changed)
  }

  #change(id: string, set: Partial<Task>, more: { unset?: (keyof Task)[]; note?: TaskNote; step?: TaskStep }) {
    const was = this.tasks.get(id)!
    const task: Task = {
      ...was,
      ...set,
      notes: more.note ? [...was.notes, more.note].slice(-mostNotes) : was.notes,
      history: more.step ? [...was.history, more.step] : was.history,
    }
    for (const key of more.unset ?? []) delete task[key]
    this.#put(task)
    this.#note({ type: 'task', id, set, ...more })
  }

  #enter(task: Task) {
    for (const need of task.needs) {
      const dependents = this.#dependents.get(need)
      if (dependents) dependents.push(task.id)
      else this.#dependents.set(need, [task.id])
    }
    this.#put(task)
  }

  #put(task: Task) {
    this.tasks.set(task.id, task)
    if (isHeld(task)) this.held.set(task.id, task)
    else this.held.delete(task.id)
    if (task.state === 'QUEUED' && task.needs.length === 0) return this.ready.put(task)
    this.ready.remove(task)
    if (task.state === 'QUEUED') this.unsure.add(task.id)
    else if (isOver(task)) for (const id of this.#dependents.get(task.id) ?? []) this.unsure.add(id)
  }

  #note(change: Unnumbered<HubChange>) {
    this.#waiting.push({ seq: ++this.#seq, at: this.#parts.clock.now(), ...change } as HubChange)
    if (change.type === 'task') this.#dirty.add(change.id)
  }

  #reload() {
    const { seq, agents, tasks } = this.#parts.ledger.load()
    this.#seq = seq
    for (const known of [this.tasks, this.ready, this.held, this.unsure, this.#dependents, this.agents]) known.clear()
    for (const task of tasks) this.#enter(task)
    for (const agent of agents) this.agents.set(agent.id, agent)
  }
}

/** Tasks in the order in which they go; looked through far more often than changed. */
export class TaskQueue {
  #tasks: Task[] = []

  get tasks(): readonly Task[] {
    return this.#tasks
  }

  /** In its place, instead of what it was before. */
  put(task: Task): void {
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

  /** Where it stands, or would: what it goes by never changes. */
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

/** What matters most goes first, then what waited longest. */
function goesBefore(a: Task, b: Task): boolean {
  if (a.priority !== b.priority) return a.priority > b.priority
  return a.created === b.created ? a.id < b.id : a.created < b.created
}
