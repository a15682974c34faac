import type { Clock } from '../base/clock.ts'
import type { Spent } from '../core/work/budget.ts'
import type { HubChange, HubLedger } from '../core/work/hub-ledger.ts'
import type {
  AgentQuestion,
  HeldTask,
  HubAgent,
  Task,
  TaskNote,
  TaskOf,
  TaskResult,
  TaskState,
  WorkingTask,
} from '../core/work/task.ts'
import type { InboxMark, InboxRow } from '../core/work/inbox.ts'
import type { NewTask } from './task-rules.ts'
import type { Given } from './waiting-agents.ts'
import { defined } from '../base/defined.ts'
import { allowedAnswers, optionLines, picksIn } from '../core/talk/consent.ts'
import { inboxItems, inboxRows, markKey } from '../core/work/inbox.ts'
import { Dispatcher } from './dispatch.ts'
import { HubRecords } from './hub-records.ts'
import {
  acknowledged,
  approved,
  blocked,
  cancelled,
  noted,
  progressed,
  queuedAgain,
  redirected,
  responded,
  withSpent,
} from './task-moves.ts'
import { heldTask, HubError, isFinished, newTask, taskIn, workedOn } from './task-rules.ts'

type HubParts = { ledger: HubLedger; clock: Clock; published(changes: readonly HubChange[]): void }

export type Registration = Pick<HubAgent, 'id' | 'role' | 'name' | 'capabilities' | 'workspace' | 'source'>

export type Response = TaskResult & { status: 'COMPLETED' | 'FAILED' | 'BLOCKED' | 'IN_REVIEW' }

/** The hub without HTTP: agents, tasks, and which agent does which task. Every change is durable before it is answered. */
export class Hub {
  #records: HubRecords
  #clock: Clock
  #dispatcher: Dispatcher
  /** The task that each agent works on, or worked on last. */
  #lastTask = new Map<string, string>()

  constructor({ ledger, clock, published }: HubParts) {
    this.#clock = clock
    this.#records = new HubRecords({ ledger, clock, published })
    this.#dispatcher = new Dispatcher(this.#records, clock)
  }

  get seq(): number {
    return this.#records.seq
  }

  /** Resolves when every change is durable. Readers wait for it, so that nobody is told what a power cut could undo. */
  kept(): Promise<void> {
    return this.#dispatcher.kept()
  }

  tasks(): Task[] {
    return [...this.#records.tasks.values()]
  }

  agents(): HubAgent[] {
    return [...this.#records.agents.values()]
  }

  task(id: string): Task {
    const task = this.#records.tasks.get(id)
    if (!task) throw new HubError('missing', `There is no task ${id}.`)
    return task
  }

  agent(id: string): HubAgent {
    const agent = this.#records.agents.get(id)
    if (!agent) throw new HubError('missing', `No agent ${id} is registered. Call register_agent first.`)
    return agent
  }

  /** Whether an agent waits for a prompt or is present at all, and the task that it has. */
  standing(id: string): { waits: boolean; about: boolean; task?: HeldTask } {
    const agent = this.agent(id)
    const task = this.#dispatcher.heldBy(id)
    return { waits: this.#dispatcher.waiting.has(id), about: this.#dispatcher.isPresent(agent), task }
  }

  async register(as: Registration): Promise<HubAgent> {
    const now = this.#clock.now()
    const { evicted: _, ...was } = this.#records.agents.get(as.id) ?? { registered: now, inbox: [] as string[] }
    const agent: HubAgent = { ...was, ...defined(as), seen: now }
    this.#records.know(agent)
    await this.#dispatcher.go()
    return agent
  }

  async add(wanted: NewTask): Promise<Task> {
    const known = wanted.id === undefined ? undefined : this.#records.tasks.get(wanted.id)
    // A request that is sent again because its answer got lost.
    if (known?.prompt === wanted.prompt) return this.#answered(known.id)
    const task = newTask(wanted, this.#records.tasks, this.#clock.now())
    this.#records.add(task)
    return this.#answered(task.id)
  }

  /** Waits for a task, a message or an eviction. A task that the agent already has is offered again, so that a lost answer costs nothing. `until`: by `Clock.elapsed`. */
  async wait(id: string, until: number, connection: AbortSignal): Promise<Given> {
    this.#heardOf(id)
    // To take a task from an agent at work is worse than to offer one in vain.
    if (await isClosed(connection, this.#dispatcher.heldBy(id) ? 8 : 3)) return { type: 'idle' }
    const agent = this.agent(id)
    if (agent.evicted !== undefined) {
      const why = agent.evicted
      this.#records.forget(id)
      await this.#dispatcher.go()
      return { type: 'evict', why }
    }
    const [text, ...inbox] = agent.inbox
    if (text !== undefined) {
      this.#records.know({ ...agent, inbox })
      await this.#dispatcher.go()
      return { type: 'told', text }
    }
    const held = this.#dispatcher.heldBy(id)
    const given = this.#dispatcher.wait(id, until, connection)
    if (held) this.#dispatcher.takeBack(held, id, 'its agent asked for work again without an answer')
    try {
      await this.#dispatcher.go()
    } catch (error) {
      // The agent gets the error, and does not wait any more.
      this.#dispatcher.waiting.take(id)?.({ type: 'idle' })
      throw error
    }
    return given
  }

  async ack(taskId: string, agentId: string): Promise<Task> {
    this.#working(taskId, agentId)
    return this.#answered(taskId)
  }

  async progress(taskId: string, agentId: string, text: string, percentage?: number): Promise<Task> {
    const task = this.#working(taskId, agentId)
    this.#records.replace(progressed(task, this.#note(task.agent, 'progress', text, percentage)))
    return this.#answered(taskId)
  }

  /** The agent needs an answer: the task waits for it, and the agent is free for other tasks. */
  async block(taskId: string, agentId: string, why: string, question: string): Promise<Task> {
    const task = this.#working(taskId, agentId)
    this.#records.replace(blocked(task, why, this.#note(task.agent, 'question', question)))
    return this.#answered(taskId)
  }

  /** Keeps an open question of an agent, which goes on with its task once it is answered; undefined withdraws it. */
  async ask(agentId: string, asked: Omit<AgentQuestion, 'at'> | undefined): Promise<HubAgent> {
    this.#heardOf(agentId)
    const agent = this.agent(agentId)
    const asks = asked && { ...asked, at: this.#clock.now() }
    if (asks?.task !== undefined) heldTask(this.task(asks.task), agentId)
    this.#records.know(defined({ ...agent, asks, answered: asks ? undefined : agent.answered }))
    const task = this.#taskOf(asks)
    if (asks && task) this.#records.replace(noted(task, this.#note(agentId, 'question', questionWords(asks))))
    await this.#dispatcher.go()
    return this.agent(agentId)
  }

  /** Answers the open question of an agent. */
  async answerAgent(agentId: string, text: string, by: string): Promise<HubAgent> {
    const agent = this.agent(agentId)
    const { asks } = agent
    if (!asks) throw new HubError('conflict', `Agent ${agentId} has no open question.`)
    const picks = picksIn(asks, text.split(/\s+/))
    if (!picks) throw new HubError('wrong', `Found "${text}", allowed: ${allowedAnswers(asks)}.`)
    this.#records.know(defined({ ...agent, asks: undefined, answered: { ask: asks.id, picks, by } }))
    const task = this.#taskOf(asks)
    if (task) this.#records.replace(noted(task, this.#note(by, 'answer', text)))
    await this.#dispatcher.go()
    return this.agent(agentId)
  }

  /** Answers a blocked task, which goes back to the agent that asked while that agent is present, or a question of the agent that has the task. */
  async answer(taskId: string, text: string, by: string): Promise<Task> {
    const { agent } = this.task(taskId)
    const asks = agent === undefined ? undefined : this.#records.agents.get(agent)?.asks
    if (agent !== undefined && asks?.task === taskId) {
      await this.answerAgent(agent, text, by)
      return this.task(taskId)
    }
    const task = this.#in(taskId, 'BLOCKED', 'has no open question')
    const note = this.#note(by, 'answer', text)
    this.#records.replace(queuedAgain(task, { at: note.at, by, note, wish: task.agent }))
    return this.#answered(taskId)
  }

  async respond(taskId: string, agentId: string, { status, ...result }: Response): Promise<Task> {
    if (status === 'BLOCKED') return this.block(taskId, agentId, result.message, result.message)
    const known = this.task(taskId)
    // A response that is sent again because our answer got lost.
    if (known.agent === agentId && known.state === status && isSame(known.result, result)) return this.#answered(taskId)
    const task = this.#working(taskId, agentId)
    this.#records.replace(responded(task, status, result, this.#note(task.agent, 'response', result.message)))
    return this.#answered(taskId)
  }

  async cancel(taskId: string, by: string, why = 'cancelled'): Promise<Task> {
    const task = this.task(taskId)
    if (isFinished(task)) throw new HubError('conflict', `Task ${taskId} is already ${task.state}.`)
    this.#records.replace(cancelled(task, { at: this.#clock.now(), by, why }))
    return this.#answered(taskId)
  }

  async retry(taskId: string, by: string): Promise<Task> {
    const task = this.task(taskId)
    if (task.state !== 'FAILED' && task.state !== 'CANCELLED')
      throw new HubError('conflict', `Task ${taskId} is ${task.state}: only a failed or cancelled task can be retried.`)
    this.#records.replace(queuedAgain(task, { at: this.#clock.now(), by, returns: 0 }))
    return this.#answered(taskId)
  }

  /** Changes the priority of a task that waits, or the agent that it is meant for; an empty agent is anybody. */
  async redirect(taskId: string, by: string, change: { priority?: number; wish?: string }): Promise<Task> {
    const task = this.#in(taskId, 'QUEUED', 'does not wait in the queue')
    if (change.wish) this.agent(change.wish)
    const words = [
      ...(change.priority === undefined ? [] : [`priority ${change.priority}`]),
      ...(change.wish === undefined ? [] : [change.wish === '' ? 'for any agent' : `for ${change.wish}`]),
    ]
    if (words.length === 0) throw new HubError('wrong', 'Name a priority, or the agent that the task is meant for.')
    this.#records.replace(redirected(task, change, this.#note(by, 'comment', `Changed: ${words.join(', ')}.`)))
    return this.#answered(taskId)
  }

  /** Approves a task in review; a client that worked on the task cannot approve it. */
  async approve(taskId: string, by: string): Promise<Task> {
    const task = this.#in(taskId, 'IN_REVIEW', 'is not in review')
    if (workedOn(task, by))
      throw new HubError('forbidden', `${by} worked on task ${taskId} and cannot approve it: another person has to.`)
    this.#records.replace(approved(task, { at: this.#clock.now(), by }))
    return this.#answered(taskId)
  }

  /** Sends a task in review back to the agent that did it, with what is wrong. */
  async reject(taskId: string, text: string, by: string): Promise<Task> {
    const task = this.#in(taskId, 'IN_REVIEW', 'is not in review')
    const note = this.#note(by, 'comment', text)
    this.#records.replace(queuedAgain(task, { at: note.at, by, note, wish: task.agent }))
    return this.#answered(taskId)
  }

  async comment(taskId: string, text: string, by: string): Promise<Task> {
    this.#records.replace(noted(this.task(taskId), this.#note(by, 'comment', text)))
    return this.#answered(taskId)
  }

  marks(): InboxMark[] {
    return [...this.#records.marks.values()]
  }

  /** The inbox of a person: everything that waits for an answer, a review or a look. */
  inbox(person: string): InboxRow[] {
    return inboxRows(person, inboxItems(this.tasks(), this.agents()), this.#records.marks, this.#clock.now())
  }

  /** Keeps what a person has done with an item, or who takes care of it. */
  async mark(person: string, { item, owner, ...own }: Omit<InboxMark, 'person'>): Promise<void> {
    if (!inboxItems(this.tasks(), this.agents()).some(({ id }) => id === item))
      throw new HubError('missing', `Nothing in the inbox is called "${item}": somebody may have answered it already.`)
    if (owner !== undefined) this.#records.mark(defined({ item, owner: owner === '' ? undefined : owner }))
    const known = this.#records.marks.get(markKey({ item, person }))
    if (Object.keys(defined(own)).length > 0) this.#records.mark({ ...known, ...defined(own), item, person })
    await this.#dispatcher.go()
  }

  /** Sends a message to every agent of a workspace, or to all: each gets it the next time it waits. */
  async broadcast(text: string, workspace?: string): Promise<number> {
    const told = this.agents().filter((agent) => workspace === undefined || agent.workspace === workspace)
    for (const agent of told) {
      const give = this.#dispatcher.waiting.take(agent.id)
      if (give) give({ type: 'told', text })
      else this.#records.know({ ...agent, inbox: [...agent.inbox, text] })
    }
    await this.#dispatcher.go()
    return told.length
  }

  async evict(id: string, why: string): Promise<void> {
    const agent = this.agent(id)
    const give = this.#dispatcher.waiting.take(id)
    const { task } = this.standing(id)
    if (task) this.#dispatcher.takeBack(task, 'hub', `its agent was removed from the hub: ${why}`)
    if (give) this.#records.forget(id)
    else this.#records.know({ ...agent, evicted: why })
    await this.#dispatcher.go().catch((error: unknown) => {
      give?.({ type: 'idle' })
      throw error
    })
    give?.({ type: 'evict', why })
  }

  /** Resolves when a task is finished, blocked or in review, or when the time is over. */
  async settled(id: string, until: number, signal: AbortSignal): Promise<Task> {
    const rests = () => isFinished(this.task(id)) || ['BLOCKED', 'IN_REVIEW'].includes(this.task(id).state)
    while (!rests() && !signal.aborted && this.#clock.elapsed() < until)
      await this.#records.nextChange(this.#clock, until, signal)
    return this.task(id)
  }

  /** Keeps an agent's report of what it has used in all; the new part of it belongs to the task that it works on, or did last. */
  async spent(id: string, all: Spent): Promise<void> {
    const { tokens = 0, cost = 0, priced = 0 } = this.agent(id)
    const task = this.#records.tasks.get(this.#lastTask.get(id) ?? '')
    // An agent that was started again counts from zero.
    const since = all.tokens < tokens ? { tokens: 0, cost: 0, priced: 0 } : { tokens, cost, priced }
    const more = defined({
      tokens: all.tokens - since.tokens,
      cost: all.cost === undefined ? undefined : all.cost - since.cost,
      priced: all.priced === undefined ? undefined : all.priced - since.priced,
    })
    if (task && more.tokens > 0) this.#records.replace(withSpent(task, more))
    this.#records.know({ ...this.agent(id), ...defined(all), seen: this.#clock.now() })
    await this.#dispatcher.go()
  }

  /** Takes back tasks whose agents fall silent, until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#dispatcher.run(signal)
  }

  #taskOf(asks: AgentQuestion | undefined): Task | undefined {
    return asks?.task === undefined ? undefined : this.#records.tasks.get(asks.task)
  }

  #answered(taskId: string): Promise<Task> {
    return this.#dispatcher.go().then(() => this.task(taskId))
  }

  #heardOf(id: string): void {
    this.#records.hear(this.agent(id))
  }

  /** The task of an agent that goes on with it, which acknowledges it too. */
  #working(taskId: string, agentId: string): WorkingTask {
    this.#heardOf(agentId)
    const task = heldTask(this.task(taskId), agentId)
    this.#lastTask.set(agentId, taskId)
    return task.state === 'PENDING_ACK' ? this.#records.replace(acknowledged(task, this.#clock.now())) : task
  }

  #in<S extends TaskState>(taskId: string, state: S, words: string): TaskOf<S> {
    return taskIn(this.task(taskId), state, words)
  }

  #note(by: string, kind: TaskNote['kind'], text: string, percentage?: number): TaskNote {
    return defined({ at: this.#clock.now(), by, kind, text, percentage })
  }
}

/** A question with its options, as one text. */
function questionWords(asks: AgentQuestion): string {
  return [asks.text, ...optionLines(asks)].join('\n')
}

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/**
 * Whether the agent has closed its connection. A request may be read long after the agent hung up, with the hang-up right
 * behind it: a few turns of the event loop later it is known, and no task goes to a connection that is gone.
 */
async function isClosed(connection: AbortSignal, turns: number): Promise<boolean> {
  for (let turn = 0; turn < turns && !connection.aborted; turn++)
    await new Promise<void>((resolve) => setImmediate(resolve))
  return connection.aborted
}
