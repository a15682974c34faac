import type { McpServer } from '@agentclientprotocol/sdk'
import type { Entry } from '../core/talk/entry.ts'
import type { ChatDesk } from '../chat/desk/chat-desk.ts'
import type { WorkMode } from '../core/work/agent.ts'

/** The desk of an editor: one session of a project, with the settings that an editor has besides the chat's own desk. */
export interface EditorDesk {
  /** The id by which the session can be found again. */
  readonly session: string
  readonly cwd: string
  readonly desk: ChatDesk
  /** The session's newest entries when it was opened; `desk` has the earlier ones. */
  readonly opened: { entries: Entry[]; more: boolean }
  /** The work modes that have an agent here, and a description of each. */
  readonly modes: readonly { id: WorkMode; name: string; means: string }[]
  /** Throws an error with a message for the person if no agent could work in that mode. */
  setMode(mode: WorkMode): Promise<void>
  /** Chooses the agent of the next turn only; undefined leaves the choice to the rotation. */
  setNextAgent(agent: string | undefined): void
  /** Whether a turn runs. */
  readonly busy: boolean
  /** Resolves when the last turn is stored and the next can begin. */
  idle(): Promise<void>
  /** Cancels the running turn, and waits until it is over. */
  close(): Promise<void>
}

export type ListedSession = { session: string; cwd: string; title?: string; last: number }

/** Opens desks for an editor. Throws an error with a message for the person if a folder or its settings are wrong. */
export interface EditorDesks {
  /** Begins a session of the project that the folder belongs to. */
  begin(cwd: string, servers: readonly McpServer[], folders?: readonly string[]): Promise<EditorDesk>
  /** Opens an existing session; undefined if it does not exist. */
  resume(
    cwd: string,
    session: string,
    servers: readonly McpServer[],
    folders?: readonly string[],
  ): Promise<EditorDesk | undefined>
  /** Lists the sessions of one project, or of all, most recently used first. */
  list(cwd: string | undefined): Promise<ListedSession[]>
}
