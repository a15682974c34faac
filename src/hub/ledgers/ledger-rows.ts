import type { HubInvite } from '../model/access/invitation.ts'
import type { ArchiveKind, ArchiveRow, TakenOver } from '../model/ledger-archive.ts'
import type { TaskState } from '../model/tasks/task.ts'
import type { Blobs, BlobWriter } from '../../core/talk/store.ts'
import type { LedgerReads } from './ledger-reads.ts'
import type { AnyTable } from './ledger-tables.ts'
import { sha256 } from '../../base/hash.ts'
import { StoreError } from '../../core/talk/store.ts'
import { isOpenInvite } from '../model/access/invitation.ts'
import { noRows } from '../model/ledger-archive.ts'
import {
  agentTable,
  dayTable,
  inviteTable,
  keyTable,
  machineTable,
  markTable,
  noteTable,
  pipelineTable,
  removedTable,
  scheduleTable,
  taskTable,
} from './ledger-tables.ts'

/** How many rows are read or written together. */
const page = 500

/**
 * How much time the agent of a task gets to report again after its ledger was opened or restored, because it could not reach a hub while
 * none ran.
 */
export const resumeMs = (state: TaskState) => (state === 'PENDING_ACK' ? 30_000 : 10 * 60_000)

/** The tables whose rows are in a backup, by the kind of row. */
const archivedTables = {
  task: taskTable,
  note: noteTable,
  agent: agentTable,
  pipeline: pipelineTable,
  schedule: scheduleTable,
  day: dayTable,
  mark: markTable,
  machine: machineTable,
  key: keyTable,
  invite: inviteTable,
  removed: removedTable,
} as Record<Exclude<ArchiveKind, 'text'>, AnyTable>

const tableKinds = Object.keys(archivedTables) as (keyof typeof archivedTables)[]

/** A ledger, read as a whole. */
export type RowSource = {
  look<T>(work: (look: LedgerReads) => Promise<T>): Promise<T>
  /** The long texts; missing ones are left out. */
  texts(): AsyncIterable<{ sha: string; bytes: number; pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array> }>
}

/** All rows of a ledger that nobody changes meanwhile. */
export async function* ledgerRows(source: RowSource): AsyncGenerator<ArchiveRow> {
  const now = await source.look(async (reads) => reads.now)
  for (const kind of tableKinds)
    for (let last: unknown, isOver = false; !isOver;) {
      const rows: unknown[] = await source.look((reads) => reads.after(archivedTables[kind], last, page))
      for (const row of rows)
        if (kind !== 'invite' || isOpenInvite(row as HubInvite, now)) yield { [kind]: row } as ArchiveRow
      last = rows.at(-1)
      isOver = rows.length < page
    }
  for await (const { sha, bytes, pieces } of source.texts()) {
    yield { text: { sha, bytes } }
    for await (const piece of pieces) yield { piece: Buffer.from(piece).toString('base64') }
  }
}

/** Whether a ledger contains nothing that a restore could destroy. */
export async function isEmptyLedger(source: Pick<RowSource, 'look'>): Promise<boolean> {
  const kinds = ['task', 'key', 'invite', 'pipeline', 'schedule', 'machine'] as const
  const found = await source.look(async (reads) => {
    const rows: unknown[] = []
    for (const kind of kinds) rows.push(...(await reads.after(archivedTables[kind], undefined, 1)))
    return rows
  })
  return found.length === 0
}

/** A ledger that receives the rows of a backup. */
export type RowTaker = {
  /** Stores rows of a table unless they exist already; resolves to the number of new rows. */
  put(table: AnyTable, rows: readonly unknown[]): Promise<number>
  hasText(sha: string): Promise<boolean>
  blobs: Pick<Blobs, 'writer'>
}

/** Stores the rows of a backup, many rows of the same table at a time. */
export async function takeRows(taker: RowTaker, rows: AsyncIterable<ArchiveRow>): Promise<TakenOver> {
  const [taken, there] = [noRows(), noRows()]
  const held = new Map<ArchiveKind, unknown[]>()
  let text: TakenText | undefined
  const flush = async (kind: Exclude<ArchiveKind, 'text'>) => {
    const some = held.get(kind) ?? []
    held.delete(kind)
    if (some.length === 0) return
    const made = await taker.put(archivedTables[kind], some)
    taken[kind] += made
    there[kind] += some.length - made
  }
  for await (const row of rows) {
    if ('piece' in row) {
      if (!text) throw new StoreError('the backup has a piece of a text without its beginning')
      await text.add(Buffer.from(row.piece, 'base64'))
    } else if ('text' in row) {
      await text?.end()
      const { sha, bytes } = row.text
      const isThere = await taker.hasText(sha)
      text = new TakenText(sha, bytes, isThere ? undefined : taker.blobs.writer('text/plain'))
      ;(isThere ? there : taken).text++
    } else {
      const kind = tableKinds.find((each) => each in row)
      if (!kind) continue
      const some = held.get(kind) ?? []
      held.set(kind, some)
      if (some.push((row as Record<string, unknown>)[kind]) >= page) await flush(kind)
    }
  }
  await text?.end()
  for (const kind of tableKinds) await flush(kind)
  return { taken, there }
}

/** A long text from a backup, whose hash is checked; without a writer the ledger already has the text. */
class TakenText {
  #sha: string
  #left: number
  #writer: BlobWriter | undefined
  #hash = sha256()

  constructor(sha: string, bytes: number, writer: BlobWriter | undefined) {
    this.#sha = sha
    this.#left = bytes
    this.#writer = writer
  }

  async add(piece: Uint8Array): Promise<void> {
    this.#hash.update(piece)
    this.#left -= piece.length
    await this.#writer?.write(piece)
  }

  async end(): Promise<void> {
    if (this.#left === 0 && this.#hash.digest('hex') === this.#sha) await this.#writer?.done()
    else {
      await this.#writer?.drop()
      throw new StoreError(`the text ${this.#sha} is not whole in the backup`)
    }
  }
}
