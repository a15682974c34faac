import type { Spent } from './spent.ts'

export type TaskState =
  | 'QUEUED'
  | 'PENDING_ACK'
  | 'ASSIGNED'
  | 'IN_PROGRESS'
  | 'BLOCKED'
  | 'IN_REVIEW'
  | 'APPROVED'
  | 'COMPLETED'
  | 'FAILED'
  | 'CANCELLED'

/** Something said about a task while it is under way. */
export type TaskNote = {
  at: number
  by: string
  kind: 'progress' | 'question' | 'answer' | 'comment' | 'response'
  text: string
  percentage?: number
}

/** One move of a task, and who made it. */
export type TaskStep = { at: number; state: TaskState; by: string; why?: string }

export type TaskResult = { message: string; artifacts?: unknown[]; diff?: string }

/** A unit of work in the hub. */
export type Task = {
  id: string
  prompt: string
  workspace: string
  /** More goes first. */
  priority: number
  /** What an agent must be able to do to have it. */
  capabilities: string[]
  /** The tasks that must be done before. */
  needs: string[]
  /** The agent it is meant for, as long as that one is there. */
  wish?: string
  state: TaskState
  /** Why it is in this state, where that needs saying. */
  why?: string
  /** Who has it. */
  agent?: string
  created: number
  /** When its state changed last. */
  moved: number
  /** When its agent was last heard of in this task. */
  heard?: number
  /** How often an agent that had acknowledged it came to no answer. */
  returns: number
  question?: string
  result?: TaskResult
  notes: TaskNote[]
  history: TaskStep[]
}

export type AgentSource = 'CLI' | 'IDE'

/** An agent as the hub knows it, and what it says that it used in all. */
export type HubAgent = Partial<Spent> & {
  id: string
  role: string
  name?: string
  capabilities: string[]
  workspace: string
  source: AgentSource
  registered: number
  /** When it last said anything. */
  seen: number
  /** What it is told the next time it waits. */
  inbox: string[]
  /** Why it is to leave; told the next time it waits. */
  evicted?: string
}

/** What happened at the hub: parts that are set, and parts that are added. */
export type HubChange = { seq: number; at: number } & (
  | {
      type: 'task'
      id: string
      set: Partial<Omit<Task, 'notes' | 'history'>>
      unset?: (keyof Task)[]
      note?: TaskNote
      step?: TaskStep
    }
  | { type: 'agent'; agent: HubAgent }
  | { type: 'gone'; id: string }
)

/** Where the hub's books are kept. */
export interface Ledger {
  /** Everything as it was kept last; `seq` is of the last change. */
  load(): { seq: number; agents: HubAgent[]; tasks: Task[] }
  /** Durable when it returns, all of them or none; `tasks` are whole, as they are after them. */
  keep(changes: readonly HubChange[], tasks: readonly Task[]): void
  /** Oldest first, after a number; undefined when some of them are not kept any more. */
  since(seq: number, most: number): HubChange[] | undefined
  close(): void
}
