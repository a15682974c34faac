import type { InboxMark } from './tasks/inbox.ts'
import type { AgentRest, MachineRules } from './tasks/machine-rules.ts'
import type { Pipeline } from './tasks/pipeline.ts'
import type { WorkspaceDay } from './tasks/spending-cap.ts'
import type { HubAgent, OfferedTask, Task } from './tasks/task.ts'

/** An agent with its standing at the hub: `task` is the task that it has, `rests` says why it gets no task. */
export type AgentNow = HubAgent & { waits: boolean; about: boolean; task?: string; rests?: AgentRest }

/** The whole state of the hub; `seq` is the number of the last change in it, `epoch` the series of numbers that it belongs to. */
export type HubState = {
  seq: number
  epoch: string
  agents: AgentNow[]
  tasks: Task[]
  marks: InboxMark[]
  days: WorkspaceDay[]
  pipelines: Pipeline[]
  /** The rules of machines, and the pause of the whole hub. */
  rules: MachineRules[]
}

/** The answer to an agent that waits: a task, a message, its eviction, or nothing yet. */
export type Given =
  | { type: 'task'; task: OfferedTask }
  | { type: 'told'; text: string }
  | { type: 'evict'; why: string }
  | { type: 'idle' }

/** The same answer in the form that is sent: a task has a ticket that is valid only for this one time that it was given out. */
export type GivenTicket = Exclude<Given, { type: 'task' }> | { type: 'task'; task: Task; ticket: string }
