import type { HubLedger, LedgerWrites, TaskRow } from '../model/hub-ledger.ts'
import type { ArchiveRow, ArchiveCounts } from '../model/ledger-archive.ts'
import type { TaskState } from '../model/tasks/task.ts'
import { isOpenInvite } from '../model/access/hub-invite.ts'
import { emptyWrites, textsOf } from '../model/hub-ledger.ts'
import { kindOf, noRows } from '../model/ledger-archive.ts'
import { readBody } from '../../core/talk/store.ts'

/** How many rows are read or written together. */
const page = 200

/** The size of a piece of a long text. */
const pieceBytes = 256 * 1024

/**
 * How much time the agent of a task gets to report again after its ledger was opened or restored: while no hub ran, it could not reach one.
 */
export const resumeMs = (state: TaskState) => (state === 'PENDING_ACK' ? 30_000 : 10 * 60_000)

/** All rows of a ledger that no other process has open. Missing texts are left out; a task says so when it is shown. */
export async function* ledgerRows(ledger: HubLedger): AsyncGenerator<ArchiveRow> {
  const texts = new Set<string>()
  let last: TaskRow | undefined
  do {
    const rows: TaskRow[] = await ledger.look((look) =>
      look.list({ most: page, ...(last ? { after: { created: last.task.created, id: last.task.id } } : {}) }),
    )
    for (const row of rows) {
      for (const sha of textsOf(row.task)) texts.add(sha)
      yield { task: row }
      const { id, noted = 0 } = row.task
      if (noted === 0) continue
      const notes = await ledger.look((look) => look.notes(id, { most: Number.MAX_SAFE_INTEGER }))
      for (const note of notes) yield { note: { task: id, note } }
    }
    last = rows.length < page ? undefined : rows.at(-1)
  } while (last)
  const rest = await ledger.look(async (look): Promise<ArchiveRow[]> => [
    ...(await look.agents()).map((agent) => ({ agent })),
    ...(await look.pipelines()).map((pipeline) => ({ pipeline })),
    ...(await look.schedules()).map((schedule) => ({ schedule })),
    ...(await look.days()).map((day) => ({ day })),
    ...(await look.marks()).map((mark) => ({ mark })),
    ...(await look.machineRules()).map((machine) => ({ machine })),
  ])
  yield* rest
  for (const key of await ledger.keys.all()) yield { key }
  const now = await ledger.look(async (look) => look.now)
  for (const invite of await ledger.invites.all()) if (isOpenInvite(invite, now)) yield { invite }
  yield* removedRows(ledger)
  for (const sha of texts) {
    const body = await readBody(ledger.blobs, { sha, media: 'text/plain', bytes: 0 })
    if (!body) continue
    yield { text: { sha, bytes: body.length } }
    for (let at = 0; at < body.length; at += pieceBytes)
      yield { piece: body.subarray(at, at + pieceBytes).toString('base64') }
  }
}

/** The ids of removed tasks, page by page. */
async function* removedRows(ledger: HubLedger): AsyncGenerator<ArchiveRow> {
  for (let last: string | undefined = ''; last !== undefined;) {
    const after: string = last
    const some = await ledger.look((look) => look.removedAfter(after, page))
    for (const removed of some) yield { removed }
    last = some.length < page ? undefined : some.at(-1)?.id
  }
}

/** Writes rows into an empty ledger that no other process has open. */
export async function fillLedger(ledger: HubLedger, rows: AsyncIterable<ArchiveRow>): Promise<ArchiveCounts> {
  const counts = noRows()
  let held: ArchiveRow[] = []
  let text: { sha: string; pieces: Buffer[] } | undefined
  const flush = async () => {
    const some = held
    held = []
    if (some.length === 0) return
    const writes: LedgerWrites = {
      ...emptyWrites,
      tasks: some.flatMap((row) => ('task' in row ? [row.task] : [])),
      agents: some.flatMap((row) => ('agent' in row ? [row.agent] : [])),
      pipelines: some.flatMap((row) => ('pipeline' in row ? [row.pipeline] : [])),
      schedules: some.flatMap((row) => ('schedule' in row ? [row.schedule] : [])),
      days: some.flatMap((row) => ('day' in row ? [row.day] : [])),
      marks: some.flatMap((row) => ('mark' in row ? [row.mark] : [])),
      machines: some.flatMap((row) => ('machine' in row ? [row.machine] : [])),
      notes: some.flatMap((row) => ('note' in row ? [row.note] : [])),
      removed: some.flatMap((row) => ('removed' in row ? [row.removed] : [])),
    }
    await ledger.round((round) => round.write(writes))
  }
  const endText = async () => {
    if (text) await ledger.blobs.put(Buffer.concat(text.pieces), 'text/plain')
    text = undefined
  }
  for await (const row of rows) {
    if ('piece' in row) {
      text?.pieces.push(Buffer.from(row.piece, 'base64'))
      continue
    }
    await endText()
    counts[kindOf(row)!]++
    if ('text' in row) text = { sha: row.text.sha, pieces: [] }
    else if ('key' in row) await ledger.keys.put(row.key)
    else if ('invite' in row) await ledger.invites.put(row.invite, -Infinity)
    else if (held.push(row) >= page) await flush()
  }
  await endText()
  await flush()
  return counts
}
