import type { Attachment } from '../../model/tasks/attachment.ts'
import type { WorkItem } from '../../../core/work/dependencies.ts'
import type { LedgerLook } from '../../model/hub-ledger.ts'
import type { SpendingCap } from '../../model/tasks/spending-cap.ts'
import type { TaskOrigin } from '../../model/tasks/workspace.ts'
import type {
  BlockedTask,
  FinishedTask,
  HeldTask,
  QueuedTask,
  Task,
  TaskOf,
  TaskState,
} from '../../model/tasks/task.ts'
import { defined } from '../../../base/defined.ts'
import { newId } from '../../../base/id.ts'
import { removedWords } from '../../model/tasks/removed-tasks.ts'

/** A task that is not acknowledged goes back to the queue after this time. */
export const ackMs = 30_000
/** A task whose agent sends nothing goes back to the queue after this time. */
const staleMs = 30 * 60_000

/** How long an agent may be silent before its task goes back to the queue. */
export function leaseMs({ state }: HeldTask): number {
  return state === 'PENDING_ACK' ? ackMs : staleMs
}

/**
 * A request that the hub refuses: its subject does not exist or was removed, belongs to another agent or is in another state, the request
 * is invalid or too long, or its caller may not make it.
 */
export class HubError extends Error {
  override name = 'HubError'
  readonly kind: 'missing' | 'gone' | 'conflict' | 'wrong' | 'long' | 'forbidden'

  constructor(kind: HubError['kind'], message: string) {
    super(message)
    this.kind = kind
  }
}

/** A request names a task that does not exist; the task may have been removed. */
export class NoTask extends HubError {
  readonly task: string

  constructor(task: string, words = `There is no task ${task}.`, kind: HubError['kind'] = 'missing') {
    super(kind, words)
    this.task = task
  }
}

/** The refusal of a request that names a missing task; if the task was removed, the refusal says so. */
export async function explainMissing(look: LedgerLook, missing: NoTask): Promise<HubError> {
  const [exact] = await look.removed([missing.task])
  if (exact) return new HubError('gone', removedWords(exact))
  // A person types the beginning or the end of an id.
  const alike = missing.task.length < shortestName ? [] : await look.removedLike(missing.task)
  return alike.length === 1 ? new HubError('gone', removedWords(alike[0]!)) : missing
}

const shortestName = 4

export type NewTask = {
  /** The caller chooses the id, so that repeating a request whose answer was lost adds no second task. */
  id?: string
  prompt: string
  workspace: string
  origin?: TaskOrigin
  wish?: string
  capabilities?: string[]
  priority?: number
  needs?: string[]
  attachments?: Attachment[]
  /** An empty cap means no cap, whatever the settings say. */
  cap?: SpendingCap
  by: string
}

/** Makes a queued task; throws a HubError if its fields are not valid. */
export function newTask(wanted: NewTask, known: { has(id: string): boolean }, now: number): QueuedTask {
  const { id, by, prompt, workspace, origin, wish, attachments } = wanted
  const { capabilities = [], priority = 0, needs = [], cap = {} } = wanted
  if (id !== undefined && known.has(id)) throw new HubError('wrong', `Task ${id} exists already, with another prompt.`)
  if (id !== undefined && !/^[\w-]{8,64}$/.test(id))
    throw new HubError('wrong', 'A task id has 8 to 64 letters, digits, "_" and "-".')
  if (prompt.trim() === '') throw new HubError('wrong', 'A task needs a prompt.')
  const strange = needs.find((need) => !known.has(need))
  if (strange !== undefined) throw new NoTask(strange, `There is no task ${strange} to depend on.`, 'wrong')
  return defined({
    id: id ?? newId(now),
    prompt,
    by,
    attachments,
    workspace,
    origin: origin && defined(origin),
    priority,
    capabilities,
    needs,
    wish,
    cap: Object.keys(defined(cap)).length > 0 ? defined(cap) : undefined,
    state: 'QUEUED',
    created: now,
    moved: now,
    returns: 0,
    notes: [],
    history: [{ at: now, state: 'QUEUED', by }],
  })
}

/** Whether an agent has the task. */
export function isHeld(task: Task): task is HeldTask {
  return task.state === 'PENDING_ACK' || task.state === 'ASSIGNED' || task.state === 'IN_PROGRESS'
}

/** Whether the hub has paused a task at this agent, because its cap was passed. */
export function isPausedAt(task: Task, agent: string): task is BlockedTask {
  return task.state === 'BLOCKED' && task.options !== undefined && task.agent === agent
}

export function isFinished(task: Task): task is FinishedTask {
  return (
    task.state === 'APPROVED' || task.state === 'COMPLETED' || task.state === 'FAILED' || task.state === 'CANCELLED'
  )
}

/** Whether this client had the task at any time. */
export function workedOn(task: Task, name: string): boolean {
  const asAgent: readonly TaskState[] = ['ASSIGNED', 'IN_PROGRESS', 'BLOCKED', 'IN_REVIEW']
  return task.agent === name || task.history.some(({ by, state }) => by === name && asAgent.includes(state))
}

/** Returns the task if this agent has it; otherwise throws. */
export function heldTask(task: Task, agent: string): HeldTask {
  if (isHeld(task) && task.agent === agent) return task
  if (isPausedAt(task, agent))
    throw new HubError(
      'conflict',
      `Task ${task.id} is paused: ${task.why}. Stop working on it now and call wait_for_prompt: you get the task again when a person lets it go on.`,
    )
  const now = `it is ${task.state}${task.agent === undefined ? '' : `, with ${task.agent}`}`
  throw new HubError(
    'conflict',
    `Agent ${agent} does not have task ${task.id}: ${now}. Ask for the next task with wait_for_prompt.`,
  )
}

/** Returns the task if it is in this state; otherwise throws an error in which `words` complete "Task 1 …". */
export function taskIn<S extends TaskState>(task: Task, state: S, words: string): TaskOf<S> {
  if (task.state !== state) throw new HubError('conflict', `Task ${task.id} ${words}: it is ${task.state}.`)
  return task as TaskOf<S>
}

/** The parts of a task that matter to the tasks that need it. */
export function workOf(task: Task): WorkItem {
  const { id, needs, state } = task
  if (state === 'COMPLETED' || state === 'APPROVED') return { id, needs, state: 'done' }
  if (state === 'FAILED') return { id, needs, state: 'dead', why: shortenReason(task.why) }
  // "cancelled" alone is not a reason that a person gave, so it is not repeated as one.
  const why = task.why === 'cancelled' ? undefined : task.why && shortenReason(task.why)
  if (state === 'CANCELLED') return defined({ id, needs, state: 'dead' as const, cancelled: true as const, why })
  return { id, needs, state: state === 'QUEUED' ? 'waiting' : 'running' }
}

/** Keeps only the beginning and the end of a reason: each dependent task that fails adds to it. */
function shortenReason(why: string): string {
  return why.length <= 300 ? why : `${why.slice(0, 100)} … ${why.slice(-200)}`
}

const timesOffered = ({ history }: Task) => history.filter(({ state }) => state === 'PENDING_ACK').length

/**
 * The name of a task for the agent that was just given it. An agent that has lost the task is recognized by the older number in its
 * ticket.
 */
export function ticketOf(task: Task): string {
  return `${task.id}.${timesOffered(task)}`
}

/** The id of the task that a ticket or an id names. */
export function taskIdOf(ticket: string): string {
  return ticket.split('.', 1)[0]!
}

/** Refuses a ticket from an earlier time that the task was given out, be it to another agent or to an earlier run of the same agent. */
export function checkTicket(ticket: string, task: Task): void {
  const [, number] = ticket.split('.')
  if (number === undefined || Number(number) === timesOffered(task)) return
  const to = task.agent === undefined ? '' : `, to ${task.agent}`
  throw new HubError(
    'conflict',
    `The ticket ${ticket} is no longer valid: the task was given out again since${to}. Ask for the next task with wait_for_prompt.`,
  )
}

/**
 * Refuses an agent's report with an old ticket, or with a plain id once the task was given out twice: an agent restarted under the same
 * name could be taken for its earlier run, whose late answer must not count.
 */
export function checkFence(ticket: string, task: Task): void {
  checkTicket(ticket, task)
  const times = timesOffered(task)
  if (times < 2 || ticket !== task.id) return
  throw new HubError(
    'conflict',
    `Task ${task.id} was given out ${times} times, and its id does not say which of them this word is about. Send the ticket that came with the task (the taskId of wait_for_prompt).`,
  )
}
