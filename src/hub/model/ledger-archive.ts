import type { HubInvite } from './access/invitation.ts'
import type { HubKey } from './access/hub-key.ts'
import type { AgentRow, PipelineRow, TaskRow } from './hub-ledger.ts'
import type { InboxMark } from './tasks/inbox.ts'
import type { MachineRules } from './tasks/machine-rules.ts'
import type { RemovedTask } from './tasks/removed-tasks.ts'
import type { Schedule } from './plans/schedule.ts'
import type { WorkspaceDay } from './tasks/spending-cap.ts'
import type { TaskNote } from './tasks/task-note.ts'
import type { TaskState } from './tasks/task.ts'

/**
 * A row of a ledger's backup, in the same form for every kind of ledger. A long text is a row with its hash, followed by its
 * pieces in base64. Links and sign-ins of browsers are left out: a backup must not sign anybody in again.
 */
export type ArchiveRow =
  | { task: TaskRow }
  | { note: { task: string; note: TaskNote } }
  | { agent: AgentRow }
  | { pipeline: PipelineRow }
  | { schedule: Schedule }
  | { day: WorkspaceDay }
  | { mark: InboxMark }
  | { machine: MachineRules }
  | { key: HubKey }
  /** An invitation that is still open. */
  | { invite: HubInvite }
  | { removed: RemovedTask }
  | { text: { sha: string; bytes: number } }
  | { piece: string }

type KeysOf<U> = U extends unknown ? keyof U : never

export type ArchiveKind = Exclude<KeysOf<ArchiveRow>, 'piece'>

/** The number of rows of each kind. */
export type ArchiveCounts = Record<ArchiveKind, number>

export const archiveKinds: readonly ArchiveKind[] = [
  'task',
  'note',
  'agent',
  'key',
  'invite',
  'pipeline',
  'schedule',
  'day',
  'mark',
  'machine',
  'removed',
  'text',
]

export const noRows = (): ArchiveCounts =>
  Object.fromEntries(archiveKinds.map((kind) => [kind, 0])) as Record<ArchiveKind, number>

/** The kind of a row; undefined for a piece of a text. */
export function kindOf(row: ArchiveRow): ArchiveKind | undefined {
  return archiveKinds.find((kind) => kind in row)
}

/** The result of storing rows: the new rows, and those that existed already. */
export type TakenOver = { taken: ArchiveCounts; there: ArchiveCounts }

/** A ledger that is read and written as a whole, while no hub changes it. */
export interface LedgerArchive {
  /** The rows of one moment. */
  rows(): AsyncIterable<ArchiveRow>
  /** Whether the ledger contains nothing that a restore could destroy. */
  isEmpty(): Promise<boolean>
  /**
   * Stores rows, all or none of them, and begins a new series of numbers. With `replace` they replace everything; otherwise rows that
   * exist already stay as they are.
   */
  take(rows: AsyncIterable<ArchiveRow>, how: { replace: boolean }): Promise<TakenOver>
  close(): Promise<void>
}

/** The state of a ledger; `problems` are sentences that say what to do. */
export type LedgerStatus = {
  /** The file of the ledger, or its address without the password. */
  ledger: string
  /** The version of the ledger's tables, and the newest version that this program supports. */
  schema: number
  newest: number
  bytes: number
  /** The free bytes on the ledger's disk, if that disk is on this machine. */
  free?: number
  /** The numbers of its tasks by state, of its agents and of its keys; missing if a hub has the ledger open and does not report them. */
  tasks?: { state: TaskState; count: number }[]
  agents?: number
  keys?: number
  /** The hubs that have the ledger open, if that can be found out. */
  hubs: { host: string; since: number }[]
  problems: string[]
}
