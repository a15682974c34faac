import type { HubKeyBook } from './hub-key.ts'
import type { InboxMark } from './inbox.ts'
import type { SignInBook } from './sign-in.ts'
import type { HubAgent, Task, TaskBase, TaskFacts, TaskNote, TaskState, TaskStep, TaskTry } from './task.ts'

/** A change at the hub: the fields of a task that are set or unset, and the note and the step that are added. */
export type HubChange = { seq: number; at: number } & (
  | {
      type: 'task'
      id: string
      set: Partial<Omit<TaskBase, 'notes' | 'history' | 'tries'> & { state: TaskState } & TaskFacts>
      unset?: (keyof TaskFacts | 'wish')[]
      note?: TaskNote
      step?: TaskStep
      /** The try that is new or has changed. */
      try?: TaskTry
    }
  | { type: 'agent'; agent: HubAgent }
  | { type: 'gone'; id: string }
  | { type: 'mark'; mark: InboxMark }
)

/** Where the hub's agents, tasks, changes, keys and sign-ins are stored. */
export interface HubLedger {
  readonly keys: HubKeyBook
  readonly signIns: SignInBook
  /** Everything as it was last stored; `seq` is the number of the last change. */
  load(): { seq: number; agents: HubAgent[]; tasks: Task[]; marks: InboxMark[] }
  /** Stores all of the changes or none, durably when it returns; `tasks` are the changed tasks, whole. */
  keep(changes: readonly HubChange[], tasks: readonly Task[]): void
  /** The changes after a number, oldest first; undefined when some of them are no longer stored. */
  since(seq: number, most: number): HubChange[] | undefined
  close(): void
}
