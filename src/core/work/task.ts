import type { Question } from '../talk/question.ts'
import type { Spent } from './budget.ts'

/** A note about a task: what its agent or a person said. */
export type TaskNote = {
  at: number
  by: string
  kind: 'progress' | 'question' | 'answer' | 'comment' | 'response'
  text: string
  percentage?: number
}

/** One change of a task's state, and who made it. */
export type TaskStep = { at: number; state: TaskState; by: string; why?: string }

export type TaskResult = { message: string; artifacts?: unknown[]; diff?: string }

/** One try of a task: an agent's work on it, from its acknowledgement to the next state. */
export type TaskTry = {
  /** Tries are numbered from 1. */
  number: number
  agent: string
  began: number
  /** When the try ended, and the state that the task came to: QUEUED where the agent gave it back or fell silent. */
  ended?: number
  end?: TaskState
  result?: TaskResult
  /** The tokens and the cost that the agent reported for the try. */
  spent?: Spent
}

/** The fields that a task has in every state. */
export type TaskBase = {
  id: string
  prompt: string
  workspace: string
  /** Tasks with a higher priority go first. */
  priority: number
  /** The capabilities that an agent needs to get the task. */
  capabilities: string[]
  /** The tasks that must be done first. */
  needs: string[]
  /** The agent that the task is meant for, as long as that agent is there. */
  wish?: string
  created: number
  /** When the state changed last. */
  moved: number
  /** How often an agent acknowledged the task and then gave no answer. */
  returns: number
  notes: TaskNote[]
  history: TaskStep[]
  /** Missing in a task that an older termaite stored. */
  tries?: TaskTry[]
}

/** The fields that depend on the state. */
export type TaskFacts = {
  /** The reason for the state. */
  why: string
  /** The agent that has the task, or had it last. */
  agent: string
  /** When that agent was last heard of in this task. */
  heard: number
  question: string
  /** The agent's last answer; it stays when the task goes back to the queue. */
  result: TaskResult
}

type TaskIn<S extends string, Has extends keyof TaskFacts, May extends keyof TaskFacts = never> = TaskBase & {
  state: S
} & Pick<TaskFacts, Has> &
  Partial<Pick<TaskFacts, May>> & { [Fact in Exclude<keyof TaskFacts, Has | May>]?: undefined }

/** Each state with the facts that it always has and those that it may have. */
export type QueuedTask = TaskIn<'QUEUED', never, 'why' | 'result'>
/** The task was given to an agent that has yet to acknowledge it. */
export type OfferedTask = TaskIn<'PENDING_ACK', 'agent', 'result'>
export type WorkingTask = TaskIn<'ASSIGNED' | 'IN_PROGRESS', 'agent' | 'heard', 'result'>
export type BlockedTask = TaskIn<'BLOCKED', 'agent' | 'why' | 'question', 'heard' | 'result'>
export type ReviewedTask = TaskIn<'IN_REVIEW', 'agent' | 'result', 'heard'>
export type DoneTask = TaskIn<'APPROVED' | 'COMPLETED', 'agent' | 'result', 'heard'>
export type UndoneTask = TaskIn<'FAILED' | 'CANCELLED', 'why', 'agent' | 'heard' | 'result'>

/** A task that an agent has. */
export type HeldTask = OfferedTask | WorkingTask
export type OpenTask = QueuedTask | HeldTask | BlockedTask | ReviewedTask
export type FinishedTask = DoneTask | UndoneTask

/** A unit of work in the hub. */
export type Task = OpenTask | FinishedTask

export type TaskState = Task['state']

/** The task in one state. */
export type TaskOf<S extends TaskState> = Extract<Task, { state: S }>

/** Reads a task that was stored or sent as JSON. Facts that an older termaite did not write get a neutral value. */
export function parseTask(stored: unknown): Task {
  const task = stored as TaskBase & { state: TaskState } & Partial<TaskFacts>
  if (typeof task?.id !== 'string') throw new Error('a stored task has no id')
  const had = { agent: task.agent ?? 'unknown' }
  switch (task.state) {
    case 'QUEUED':
      return task as QueuedTask
    case 'PENDING_ACK':
      return { ...task, ...had } as OfferedTask
    case 'ASSIGNED':
    case 'IN_PROGRESS':
      return { ...task, ...had, heard: task.heard ?? task.moved } as WorkingTask
    case 'BLOCKED': {
      const question = task.question ?? ''
      return { ...task, ...had, question, why: task.why ?? question } as BlockedTask
    }
    case 'IN_REVIEW':
    case 'APPROVED':
    case 'COMPLETED':
      return { ...task, ...had, result: task.result ?? { message: '' } } as ReviewedTask | DoneTask
    case 'FAILED':
    case 'CANCELLED':
      return { ...task, why: task.why ?? task.state.toLowerCase() } as UndoneTask
    default:
      throw new Error(`task ${task.id} has the unknown state ${JSON.stringify((task as { state: unknown }).state)}`)
  }
}

/** A question that an agent asks while it works, such as a dialog of its CLI; `task` is the task that it is about. */
export type AgentQuestion = Pick<Question, 'options' | 'multiple' | 'marked' | 'ordered' | 'free'> & {
  id: string
  text: string
  task?: string
  at: number
}

export type AgentSource = 'CLI' | 'IDE'

/** An agent as the hub knows it, and its own report of what it has used in all. */
export type HubAgent = Partial<Spent> & {
  id: string
  role: string
  name?: string
  capabilities: string[]
  workspace: string
  source: AgentSource
  registered: number
  /** When the agent last sent anything. */
  seen: number
  /** Messages that the agent gets the next time it waits. */
  inbox: string[]
  /** The open question of the agent, and the answer to its last one. */
  asks?: AgentQuestion
  answered?: { ask: string; picks: string[]; by: string }
  /** Why the agent has to leave; it is told the next time it waits. */
  evicted?: string
}
