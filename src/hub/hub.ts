import type { Clock } from '../base/clock.ts'
import type { Spent } from '../core/work/spent.ts'
import type { HubAgent, HubChange, Ledger, Task, TaskNote, TaskResult } from '../core/work/task.ts'
import type { NewTask } from './task-rules.ts'
import type { Given } from './waiting-agents.ts'
import { Dispatcher, wishFor } from './dispatch.ts'
import { HubRecords } from './hub-records.ts'
import { checkClaim, checkState, HubError, isOver, taskFrom } from './task-rules.ts'

export type HubParts = { ledger: Ledger; clock: Clock; published(changes: readonly HubChange[]): void }

export type Registration = Pick<HubAgent, 'id' | 'role' | 'name' | 'capabilities' | 'workspace' | 'source'>

export type Response = TaskResult & { status: 'COMPLETED' | 'FAILED' | 'BLOCKED' | 'IN_REVIEW' }

/** The hub without its wire: agents, tasks, and who does what. Every change is durable before it is answered. */
export class Hub {
  #books: HubRecords
  #clock: Clock
  #dispatch: Dispatcher

  constructor({ ledger, clock, published }: HubParts) {
    this.#clock = clock
    this.#books = new HubRecords({ ledger, clock, published })
    this.#dispatch = new Dispatcher(this.#books, clock)
  }

  get seq(): number {
    return this.#books.seq
  }

  /** Whoever only looks waits for this first: nobody is told what a power cut could undo. */
  kept(): Promise<void> {
    return this.#dispatch.kept()
  }

  tasks(): Task[] {
    return [...this.#books.tasks.values()]
  }

  agents(): HubAgent[] {
    return [...this.#books.agents.values()]
  }

  task(id: string): Task {
    const task = this.#books.tasks.get(id)
    if (!task) throw new HubError('missing', `There is no task ${id}.`)
    return task
  }

  agent(id: string): HubAgent {
    const agent = this.#books.agents.get(id)
    if (!agent) throw new HubError('missing', `No agent ${id} is registered; register_agent comes first.`)
    return agent
  }

  /** What an agent is at: waits for a prompt, works at a task, or neither. */
  standing(id: string): { waits: boolean; about: boolean; task?: Task } {
    const agent = this.agent(id)
    const task = this.#dispatch.heldBy(id)
    return { waits: this.#dispatch.waiters.has(id), about: this.#dispatch.isAbout(agent), ...(task ? { task } : {}) }
  }

  async register(as: Registration): Promise<HubAgent> {
    const now = this.#clock.now()
    const { evicted: _, ...was } = this.#books.agents.get(as.id) ?? { registered: now, inbox: [] as string[] }
    const agent: HubAgent = { ...was, ...as, seen: now }
    this.#books.know(agent)
    await this.#dispatch.go()
    return agent
  }

  async add(wanted: NewTask): Promise<Task> {
    const known = wanted.id === undefined ? undefined : this.#books.tasks.get(wanted.id)
    const task = known?.prompt === wanted.prompt ? known : taskFrom(wanted, this.#books.tasks, this.#clock.now())
    if (task !== known) this.#books.add(task)
    return this.#answered(task.id)
  }

  /** Waits for a task, a word or an eviction: what the agent holds already comes first, so that a lost answer costs nothing. */
  async wait(id: string, until: number, connection: AbortSignal): Promise<Given> {
    this.#heardOf(id)
    // To take a task from somebody at work is worse than to hand one out in vain.
    if (await isGone(connection, this.#dispatch.heldBy(id) ? 8 : 3)) return { type: 'idle' }
    const agent = this.agent(id)
    if (agent.evicted !== undefined) {
      const why = agent.evicted
      this.#books.forget(id)
      await this.#dispatch.go()
      return { type: 'evict', why }
    }
    const [text, ...inbox] = agent.inbox
    if (text !== undefined) {
      this.#books.know({ ...agent, inbox })
      await this.#dispatch.go()
      return { type: 'told', text }
    }
    const held = this.#dispatch.heldBy(id)
    const given = this.#dispatch.wait(id, until, connection)
    if (held) this.#dispatch.takeBack(held, id, 'its agent asked for work again without an answer')
    try {
      await this.#dispatch.go()
    } catch (error) {
      // Whoever is told of the trouble does not wait any more.
      this.#dispatch.waiters.take(id)?.({ type: 'idle' })
      throw error
    }
    return given
  }

  async ack(taskId: string, agentId: string): Promise<Task> {
    const task = this.#claimed(taskId, agentId)
    if (task.state === 'PENDING_ACK') this.#books.move(taskId, 'ASSIGNED', agentId, { heard: this.#clock.now() })
    return this.#answered(taskId)
  }

  async progress(taskId: string, agentId: string | undefined, text: string, percentage?: number): Promise<Task> {
    const task = this.#claimed(taskId, agentId)
    const by = task.agent!
    const note = this.#note(by, 'progress', text, percentage)
    this.#acked(task)
    if (this.task(taskId).state === 'ASSIGNED') this.#books.move(taskId, 'IN_PROGRESS', by, { heard: note.at }, note)
    else this.#books.tell(taskId, { heard: note.at }, note)
    return this.#answered(taskId)
  }

  /** The agent needs an answer: the task waits for it, and the agent is free for others. */
  async block(taskId: string, agentId: string | undefined, why: string, question: string): Promise<Task> {
    const task = this.#claimed(taskId, agentId)
    this.#acked(task)
    const by = task.agent!
    this.#books.move(taskId, 'BLOCKED', by, { why, question }, this.#note(by, 'question', question))
    return this.#answered(taskId)
  }

  /** Goes back to whoever asked, if that one is about. */
  async answer(taskId: string, text: string, by: string): Promise<Task> {
    const task = this.#in(taskId, 'BLOCKED', 'waits for no answer')
    this.#books.move(taskId, 'QUEUED', by, { ...wishFor(task) }, this.#note(by, 'answer', text))
    return this.#answered(taskId)
  }

  async respond(taskId: string, agentId: string | undefined, { status, ...result }: Response): Promise<Task> {
    if (status === 'BLOCKED') return this.block(taskId, agentId, result.message, result.message)
    const done = this.task(taskId)
    // An answer that is sent again because ours got lost on its way.
    if (agentId !== undefined && done.agent === agentId && done.state === status && same(done.result, result))
      return this.#answered(taskId)
    const task = this.#claimed(taskId, agentId)
    this.#acked(task)
    const why = status === 'FAILED' ? { why: result.message } : {}
    const note = this.#note(task.agent!, 'response', result.message)
    this.#books.move(taskId, status, task.agent!, { result, ...why }, note)
    return this.#answered(taskId)
  }

  async cancel(taskId: string, by: string, why = 'cancelled'): Promise<Task> {
    const task = this.task(taskId)
    if (isOver(task)) throw new HubError('conflict', `Task ${taskId} is ${task.state} already.`)
    this.#books.move(taskId, 'CANCELLED', by, { why })
    return this.#answered(taskId)
  }

  async retry(taskId: string, by: string): Promise<Task> {
    const task = this.task(taskId)
    if (task.state !== 'FAILED' && task.state !== 'CANCELLED')
      throw new HubError(
        'conflict',
        `Task ${taskId} is ${task.state}; only one that failed or was cancelled is tried again.`,
      )
    this.#books.move(taskId, 'QUEUED', by, { returns: 0 })
    return this.#answered(taskId)
  }

  async approve(taskId: string, by: string): Promise<Task> {
    this.#in(taskId, 'IN_REVIEW', 'is not in review')
    this.#books.move(taskId, 'APPROVED', by)
    return this.#answered(taskId)
  }

  /** Back to whoever did it, with what is wrong. */
  async reject(taskId: string, text: string, by: string): Promise<Task> {
    const task = this.#in(taskId, 'IN_REVIEW', 'is not in review')
    this.#books.move(taskId, 'QUEUED', by, { ...wishFor(task) }, this.#note(by, 'comment', text))
    return this.#answered(taskId)
  }

  async comment(taskId: string, text: string, by: string): Promise<Task> {
    this.task(taskId)
    this.#books.tell(taskId, {}, this.#note(by, 'comment', text))
    await this.#dispatch.go()
    return this.task(taskId)
  }

  /** Tells every agent of a workspace, or all, the next time it waits. */
  async broadcast(text: string, workspace?: string): Promise<number> {
    const told = this.agents().filter((agent) => workspace === undefined || agent.workspace === workspace)
    for (const agent of told) {
      const give = this.#dispatch.waiters.take(agent.id)
      if (give) give({ type: 'told', text })
      else this.#books.know({ ...agent, inbox: [...agent.inbox, text] })
    }
    await this.#dispatch.go()
    return told.length
  }

  async evict(id: string, why: string): Promise<void> {
    const agent = this.agent(id)
    const give = this.#dispatch.waiters.take(id)
    const { task } = this.standing(id)
    if (task) this.#dispatch.takeBack(task, 'hub', `its agent was sent away: ${why}`)
    if (give) this.#books.forget(id)
    else this.#books.know({ ...agent, evicted: why })
    await this.#dispatch.go().catch((error: unknown) => {
      give?.({ type: 'idle' })
      throw error
    })
    give?.({ type: 'evict', why })
  }

  /** Resolves when a task needs nobody's work any more for now, or the time is over. */
  async settled(id: string, until: number, signal: AbortSignal): Promise<Task> {
    const rests = () => isOver(this.task(id)) || ['BLOCKED', 'IN_REVIEW'].includes(this.task(id).state)
    while (!rests() && !signal.aborted && this.#clock.now() < until)
      await this.#books.nextChange(this.#clock, until, signal)
    return this.task(id)
  }

  /** What an agent says it has used in all. */
  async spent(id: string, all: Spent): Promise<void> {
    this.#books.know({ ...this.agent(id), ...all, seen: this.#clock.now() })
    await this.#dispatch.go()
  }

  /** Watches over what was given out, until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#dispatch.run(signal)
  }

  #answered(taskId: string): Promise<Task> {
    return this.#dispatch.go().then(() => this.task(taskId))
  }

  #heardOf(id: string): void {
    this.agent(id)
    this.#books.agents.set(id, { ...this.agent(id), seen: this.#clock.now() })
  }

  /** Whoever goes on with a task has taken it. */
  #acked(task: Task): void {
    if (task.state === 'PENDING_ACK') this.#books.move(task.id, 'ASSIGNED', task.agent!, { heard: this.#clock.now() })
  }

  #claimed(taskId: string, agentId: string | undefined): Task {
    if (agentId !== undefined) this.#heardOf(agentId)
    const task = this.task(taskId)
    checkClaim(task, agentId)
    return task
  }

  #in(taskId: string, state: Task['state'], words: string): Task {
    const task = this.task(taskId)
    checkState(task, state, words)
    return task
  }

  #note(by: string, kind: TaskNote['kind'], text: string, percentage?: number): TaskNote {
    return { at: this.#clock.now(), by, kind, text, ...(percentage === undefined ? {} : { percentage }) }
  }
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/**
 * What an agent asked before it hung up may be read long after, and the hang-up right behind it: a few turns of the
 * loop later it is known, and nothing is taken from its newer connection or given to the one that is gone.
 */
async function isGone(connection: AbortSignal, turns: number): Promise<boolean> {
  for (let turn = 0; turn < turns && !connection.aborted; turn++)
    await new Promise<void>((resolve) => setImmediate(resolve))
  return connection.aborted
}
