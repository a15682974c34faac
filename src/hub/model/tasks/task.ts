import type { Option, Question } from '../../../core/talk/question.ts'
import type { Attachment } from './attachment.ts'
import type { AgentMessage, AgentStatus } from './agent-status.ts'
import type { Spent } from '../../../core/work/budget.ts'
import type { Pause } from './machine-rules.ts'
import type { PromptPart } from '../../../core/data/prompt-template.ts'
import type { SpendingCap } from './spending-cap.ts'
import type { TaskNote } from './task-note.ts'
import type { TaskOrigin } from './workspace.ts'
import type { TaskMerge, TaskResult, TaskTry } from './task-try.ts'

/** One change of a task's state, and who made it. */
export type TaskStep = { at: number; state: TaskState; by: string; why?: string; merged?: TaskMerge }

/**
 * A merge that is about to be made: who approved which try, the commit to merge, and the hub that merges. It is stored before git runs.
 */
export type TaskMerging = { by: string; try: number; at: number; commit: string; hub?: string }

/** The place of a task in a pipeline, and its settings in the plan. */
export type PipelinePlace = {
  /** The id of the pipeline, and the name of the task in it. */
  id: string
  name: string
  /** The parts of a prompt that is yet to be filled with the results of needs. */
  template?: PromptPart<{ id: string; name: string }>[]
  /** How often the task may be tried again after a failure, the pause before each try, and how often it was tried again already. */
  retries?: { times: number; pauseMs: number; made: number }
  /** The pause before a retry; it applies as long as the task has not changed its state since. */
  pause?: { since: number; ms: number }
  /** When the task fails unless it is done. */
  deadline?: number
}

/** The fields that a task has in every state. */
export type TaskBase = {
  id: string
  prompt: string
  /** The client that added the task; missing in a task that an older termaite stored. */
  by?: string
  /** The files that came with the prompt. */
  attachments?: Attachment[]
  /** The key of the workspace that the task is about; see `workspace.ts`. */
  workspace: string
  /** The place from which a person added the task. */
  origin?: TaskOrigin
  /** Tasks with a higher priority go first. */
  priority: number
  /** The capabilities that an agent needs to get the task. */
  capabilities: string[]
  /** The tasks that must be done first. */
  needs: string[]
  /** The agent that the task is meant for, as long as that agent is present. */
  wish?: string
  /** The most that all tries together may use before a person is asked. */
  cap?: SpendingCap
  /** The new limits after a person granted the task its cap once more. */
  allowed?: SpendingCap
  pipeline?: PipelinePlace
  created: number
  /** When the state last changed. */
  moved: number
  /** How often an agent acknowledged the task and then gave no answer. */
  returns: number
  /** The newest notes; the ledger has all of them. */
  notes: TaskNote[]
  /** How many notes there are in all; missing if there are no notes. */
  noted?: number
  history: TaskStep[]
  /** The newest requests that changed the task and that clients may repeat. */
  requests?: string[]
  /** A merge that a review began and whose outcome is not known yet. */
  merging?: TaskMerging
  /** Missing in a task that an older termaite stored. */
  tries?: TaskTry[]
}

/** The fields that only some states have. */
export type TaskFacts = {
  /** The reason for the state. */
  why: string
  /** The agent that has the task, or had it last. */
  agent: string
  /** When that agent last reported on this task. */
  heard: number
  question: string
  /** The answers to choose from, if the hub itself asks because a cap was passed. */
  options: Option[]
  /** The agent's last answer; it is kept when the task goes back to the queue. */
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
export type BlockedTask = TaskIn<'BLOCKED', 'agent' | 'why' | 'question', 'heard' | 'result' | 'options'>
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

/** Every state of a task, in the order in which a task goes through them. */
export const taskStates = [
  'QUEUED',
  'PENDING_ACK',
  'ASSIGNED',
  'IN_PROGRESS',
  'BLOCKED',
  'IN_REVIEW',
  'APPROVED',
  'COMPLETED',
  'FAILED',
  'CANCELLED',
] as const satisfies readonly TaskState[]

/** The task in one state. */
export type TaskOf<S extends TaskState> = Extract<Task, { state: S }>

/**
 * The title of a task: the first line of its prompt, ignoring another agent's text that was inserted into it; otherwise the task's name
 * in its pipeline.
 */
export function taskTitle({ prompt, pipeline }: Pick<TaskBase, 'prompt' | 'pipeline'>): string {
  const [first = ''] = prompt.trim().split('\n')
  const own = first.replace(/<(?:result|diff) task="[^]*$/, '').replace(/[\s:]+$/, '')
  return own === '' && pipeline ? pipeline.name : own
}

/** Parses a task that was stored or sent as JSON. Fields that an older termaite did not write get a neutral value. */
export function parseTask(stored: unknown): Task {
  const read = stored as TaskBase & { state: TaskState } & Partial<TaskFacts>
  if (typeof read?.id !== 'string') throw new Error('a stored task has no id')
  const task = { ...read, ...numberNotes(read.notes) }
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

/** Notes stored by an older termaite have no numbers. */
function numberNotes(notes: readonly TaskNote[]): Partial<Pick<TaskBase, 'notes' | 'noted'>> {
  if (notes.every(({ number }) => number !== undefined)) return {}
  return { notes: notes.map((note, at) => ({ ...note, number: at + 1 })), noted: notes.length }
}

/** A question that an agent asks while it works, such as a dialog of its CLI; `task` is the task that it works on. */
export type AgentQuestion = Pick<Question, 'options' | 'multiple' | 'marked' | 'ordered' | 'free'> & {
  id: string
  text: string
  about?: Question['about']
  task?: string
  at: number
}

type AgentSource = 'CLI' | 'IDE'

/** An agent as the hub knows it, with its own report of its total usage. */
export type HubAgent = Partial<Spent> & {
  id: string
  role: string
  name?: string
  capabilities: string[]
  /** The agent's working folder, as an older termaite stored it. */
  workspace: string
  /** The keys of every workspace that the agent has or may clone; see `workspace.ts`. */
  workspaces?: string[]
  /** The version of termaite that the agent runs under, and the number of the protocol that it speaks. */
  version?: string
  protocol?: number
  source: AgentSource
  registered: number
  /** When the agent last sent something. */
  seen: number
  /** Messages that the agent gets the next time it waits. */
  inbox: string[]
  /** The last messages of people, including those that the agent already has. */
  messages?: AgentMessage[]
  status?: AgentStatus
  /** The open question of the agent, and the answer to its last one. */
  asks?: AgentQuestion
  answered?: { ask: string; picks: string[]; by: string }
  /** Why the agent has to leave; it gets the reason the next time it waits. */
  evicted?: string
  /** Set while the agent gets no new tasks. */
  paused?: Pause
}
