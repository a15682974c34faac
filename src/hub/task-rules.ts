import type { Work } from '../core/work/depends.ts'
import type { Task, TaskState } from '../core/work/task.ts'
import { newId } from '../base/id.ts'

const held: TaskState[] = ['QUEUED', 'BLOCKED', 'IN_REVIEW', 'COMPLETED', 'FAILED', 'CANCELLED']

/** What may follow what: nothing else ever does. */
export const moves: Readonly<Record<TaskState, readonly TaskState[]>> = {
  QUEUED: ['PENDING_ACK', 'FAILED', 'CANCELLED'],
  PENDING_ACK: ['ASSIGNED', 'QUEUED', 'FAILED', 'CANCELLED'],
  ASSIGNED: ['IN_PROGRESS', ...held],
  IN_PROGRESS: held,
  BLOCKED: ['QUEUED', 'FAILED', 'CANCELLED'],
  IN_REVIEW: ['APPROVED', 'QUEUED', 'FAILED', 'CANCELLED'],
  APPROVED: [],
  COMPLETED: [],
  FAILED: ['QUEUED'],
  CANCELLED: ['QUEUED'],
}

/** Whether an agent works at it, or was just given it. */
export function isHeld({ state }: Task): boolean {
  return state === 'PENDING_ACK' || state === 'ASSIGNED' || state === 'IN_PROGRESS'
}

export function isOver({ state }: Task): boolean {
  return state === 'APPROVED' || state === 'COMPLETED' || state === 'FAILED' || state === 'CANCELLED'
}

/** A task as others wait for it. */
export function workOf({ id, needs, state, why }: Task): Work {
  if (state === 'COMPLETED' || state === 'APPROVED') return { id, needs, state: 'done' }
  if (state === 'FAILED' || state === 'CANCELLED')
    return { id, needs, state: 'dead', why: brief(why ?? state.toLowerCase()) }
  return { id, needs, state: state === 'QUEUED' ? 'waiting' : 'running' }
}

/** Of a long story of who failed because of whom, the beginning and the end. */
function brief(why: string): string {
  return why.length <= 300 ? why : `${why.slice(0, 100)} … ${why.slice(-200)}`
}

/** What the hub does not do, in words for whoever asked: there is no such thing · it is another's or in another state · the wish itself is wrong. */
export class HubError extends Error {
  override name = 'HubError'
  readonly kind: 'missing' | 'conflict' | 'wrong'

  constructor(kind: HubError['kind'], message: string) {
    super(message)
    this.kind = kind
  }
}

/** Refuses whoever does not have the task; without a name, only one that nobody has. */
export function checkClaim(task: Task, agent?: string): void {
  if (isHeld(task) && (agent === undefined || task.agent === agent)) return
  const words =
    agent === undefined
      ? `Task ${task.id} is with nobody: ${whose(task)}.`
      : `Task ${task.id} is not ${agent}'s: ${whose(task)}. Ask for the next one with wait_for_prompt.`
  throw new HubError('conflict', words)
}

/** Refuses what is only done to a task in that state; `words` say what it is not. */
export function checkState(task: Task, state: TaskState, words: string): void {
  if (task.state !== state) throw new HubError('conflict', `Task ${task.id} ${words}: it is ${task.state}.`)
}

const whose = ({ state, agent }: Task) => (agent === undefined ? `it is ${state}` : `it is ${state}, with ${agent}`)

export type NewTask = {
  /** Of the caller's choosing: one that is sent again, because our answer got lost, is the same task. */
  id?: string
  prompt: string
  workspace: string
  wish?: string
  capabilities?: string[]
  priority?: number
  needs?: string[]
  by: string
}

/** A task as it begins; what it cannot be is said. */
export function taskFrom(wanted: NewTask, known: ReadonlyMap<string, Task>, now: number): Task {
  const { id, by, prompt, workspace, wish, capabilities = [], priority = 0, needs = [] } = wanted
  if (id !== undefined && known.has(id)) throw new HubError('wrong', `Task ${id} is another one.`)
  if (id !== undefined && !/^[\w-]{8,64}$/.test(id))
    throw new HubError('wrong', 'An id is 8 to 64 letters, digits, _ and -.')
  if (prompt.trim() === '') throw new HubError('wrong', 'A task needs a prompt.')
  const strange = needs.find((need) => !known.has(need))
  if (strange !== undefined) throw new HubError('wrong', `There is no task ${strange} to depend on.`)
  return {
    id: id ?? newId(now),
    prompt,
    workspace,
    priority,
    capabilities,
    needs,
    ...(wish === undefined ? {} : { wish }),
    state: 'QUEUED',
    created: now,
    moved: now,
    returns: 0,
    notes: [],
    history: [{ at: now, state: 'QUEUED', by }],
  }
}

/** How often it was handed out. */
const handed = ({ history }: Task) => history.filter(({ state }) => state === 'PENDING_ACK').length

/** A task's name for the agent that was just given it: one who lost the task since is known by the old number. */
export function ticketOf(task: Task): string {
  return `${task.id}.${handed(task)}`
}

/** The task's own id, of a ticket or of an id. */
export function taskIdOf(ticket: string): string {
  return ticket.split('.', 1)[0]!
}

/** Refuses the ticket of an agent that had the task before somebody else got it. */
export function checkTicket(ticket: string, task: Task): void {
  const [, number] = ticket.split('.')
  if (number === undefined || Number(number) === handed(task)) return
  throw new HubError(
    'conflict',
    `Task ${task.id} was given out again since; ask for the next one with wait_for_prompt.`,
  )
}
