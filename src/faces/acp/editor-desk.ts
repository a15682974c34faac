import type { McpServer } from '@agentclientprotocol/sdk'
import type { Entry } from '../../core/talk/entry.ts'
import type { ChatDesk } from '../chat/chat-desk.ts'
import type { WorkMode } from '../../core/work/agent.ts'

/** A desk that an editor sits at: one session of a project, and what only whoever opened it can turn. */
export interface EditorDesk {
  /** The session's id, by which it is found again. */
  readonly session: string
  readonly cwd: string
  readonly desk: ChatDesk
  /** Its newest entries, as they were when it was opened; `desk` has the earlier ones. */
  readonly opened: { entries: Entry[]; more: boolean }
  /** What can be worked in here, and what each means. */
  readonly modes: readonly { id: WorkMode; name: string; means: string }[]
  /** Throws words where nobody could work so. */
  setMode(mode: WorkMode): Promise<void>
  /** Who takes the next turn, that one only; undefined leaves it to the rotation. */
  setNextAgent(agent: string | undefined): void
  /** Whether a turn is at work. */
  readonly busy: boolean
  /** Resolves when it is put away, and another can begin. */
  idle(): Promise<void>
  /** Cancels what is at work, and waits for its end. */
  close(): Promise<void>
}

export type ListedSession = { session: string; cwd: string; title?: string; last: number }

/** Who opens them. What is wrong with a folder or its settings is thrown in words. */
export interface EditorDesks {
  /** A fresh session of the project that the folder belongs to. */
  begin(cwd: string, servers: readonly McpServer[]): Promise<EditorDesk>
  /** One that is there; undefined when it is not. */
  resume(cwd: string, session: string, servers: readonly McpServer[]): Promise<EditorDesk | undefined>
  /** The most recently used first; of one project, or of all. */
  list(cwd: string | undefined): Promise<ListedSession[]>
}
