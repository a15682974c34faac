import type { Io } from '../../core/io.ts'
import type { ArchiveCounts, ArchiveKind, LedgerArchive, LedgerStatus, TakenOver } from '../model/ledger-archive.ts'
import type { LedgerPlace } from './open-ledger.ts'
import { messageOf } from '../../base/error-message.ts'
import { defined } from '../../base/defined.ts'
import { freeBytes } from '../../base/files/disk-space.ts'
import { groupDigits } from '../../base/text/number-words.ts'
import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { UsageError, voiceOf } from '../../core/io.ts'
import { fullDiskWords, littleDisk } from '../../core/work/full-disk.ts'
import { archiveKinds } from '../model/ledger-archive.ts'
import { LedgerTaken, textsEnding } from '../ledgers/sqlite/hub-ledger.ts'
import { besideDatabase } from '../../store/set-aside.ts'
import { copyEnding, removeCopy } from '../ledgers/sqlite/ledger-copy.ts'
import { version } from '../../base/version.ts'
import { ledgerWords, openPlace } from './open-ledger.ts'

/** The warning that the disk of a ledger in a file is nearly full; undefined if there is room. `free` returns the free bytes. */
export function diskWarning(place: LedgerPlace, free = freeBytes): string | undefined {
  const bytes = 'path' in place && existsSync(place.path) ? free(place.path) : undefined
  return bytes !== undefined && bytes < littleDisk ? fullDiskWords(bytes) : undefined
}

/** Looks at a ledger and changes nothing. */
export async function ledgerStatus(io: Io, place: LedgerPlace): Promise<LedgerStatus> {
  if ('address' in place) {
    const { postgresStatus } = await import('../ledgers/postgres/status.ts')
    return postgresStatus(place.address, io.clock)
  }
  const { path } = place
  const base = { ledger: path, schema: 0, newest: 0, hubs: [] }
  if (!existsSync(path)) {
    const problems = ['There is no ledger yet. The first start of the hub makes it.']
    return { ...base, bytes: 0, tasks: [], agents: 0, keys: 0, problems }
  }
  const [bytes, free] = [bytesOf(path), freeBytes(path)]
  const full = [diskWarning(place) ?? []].flat()
  try {
    return defined({ ...base, bytes, free, ...(await countedRows(io, place)), problems: full })
  } catch (error) {
    if (!(error instanceof LedgerTaken)) throw error
    const counted = await countedCopy(io, path).catch((fault: unknown) => messageOf(fault))
    if (typeof counted !== 'string') return defined({ ...base, bytes, free, ...counted, problems: full })
    const problems = [`A hub has the ledger open, and does not say what it contains: ${counted}`]
    return defined({ ...base, bytes, free, problems: [...problems, ...full] })
  }
}

/** The size of a ledger with its write-ahead log, which contains almost everything while a hub runs. */
function bytesOf(path: string): number {
  const sizes = besideDatabase.map((ending) => statSync(`${path}${ending}`, { throwIfNoEntry: false })?.size ?? 0)
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** How many tasks, agents and keys a ledger in a file has. */
async function countedRows(io: Io, place: LedgerPlace): Promise<Pick<LedgerStatus, 'tasks' | 'agents' | 'keys'>> {
  const ledger = await openPlace(io, place)
  try {
    const read = await ledger.look(async (look) => ({
      tasks: (await look.counts()).map(({ state, count }) => ({ state, count })),
      agents: (await look.agents()).length,
    }))
    return { ...read, keys: (await ledger.keys.all()).length }
  } finally {
    await ledger.close()
  }
}

/** Counts the rows of a ledger that a running hub has open, in a copy that the hub makes. */
async function countedCopy(io: Io, path: string): Promise<Pick<LedgerStatus, 'tasks' | 'agents' | 'keys'>> {
  const copy = await ownCopy(io, path)
  try {
    return await countedRows(io, { path: copy })
  } finally {
    removeCopy(copy)
  }
}

type Migrated = { from: number; to: number; made: string[] }

/** Brings the tables of a ledger to the newest version. */
export async function migrateLedger(io: Io, place: LedgerPlace): Promise<Migrated> {
  if ('path' in place) {
    // A ledger in a file is always brought up to date when it is opened.
    await (await exclusively(place, () => openPlace(io, place))).close()
    return { from: 0, to: 0, made: [] }
  }
  const { migrate } = await import('../ledgers/postgres/schema.ts')
  return migrate(place.address, io.clock)
}

/** Opens a ledger to be read or written as a whole. Throws `LedgerTaken` if a hub has it open. */
async function openArchive(io: Io, place: LedgerPlace): Promise<LedgerArchive> {
  if ('address' in place) {
    const { postgresArchive } = await import('../ledgers/postgres/archive.ts')
    return postgresArchive(place.address, io.clock)
  }
  const [{ sqliteArchive }, { TaskTexts }] = await Promise.all([
    import('../ledgers/sqlite/archive.ts'),
    import('../engine/texts/task-texts.ts'),
  ])
  return sqliteArchive(place.path, {
    ...voiceOf(io),
    adopt: (ledger) => {
      const texts = new TaskTexts(ledger.blobs)
      return (task) => texts.withMovedDiffs(task)
    },
  })
}

async function exclusively<T>(place: LedgerPlace, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof LedgerTaken)) throw error
    throw new UsageError(`a hub has ${ledgerWords(place)} open. Stop it first: termaite stop hub`, 1)
  }
}

/** Opens a copy of the ledger that a running hub has open. The hub makes the copy, which is removed when the archive is closed. */
async function copiedArchive(io: Io, path: string): Promise<LedgerArchive> {
  const copy = await ownCopy(io, path)
  try {
    const { sqliteArchive } = await import('../ledgers/sqlite/archive.ts')
    const archive = await sqliteArchive(copy, { ...voiceOf(io), texts: `${path}${textsEnding}` })
    const close = async () => {
      await archive.close()
      removeCopy(copy)
    }
    return {
      rows: () => archive.rows(),
      isEmpty: () => archive.isEmpty(),
      take: (...how) => archive.take(...how),
      close,
    }
  } catch (error) {
    removeCopy(copy)
    throw error
  }
}

/** Has the running hub of a ledger copy it, and returns the path of the copy. */
async function ownCopy(io: Io, path: string): Promise<string> {
  const { withHub } = await import('../client/hub-client.ts')
  const copy = await withHub(io, (hub) => hub.operators.copyLedger())
  // A hub with another ledger may be running at the usual address.
  if (!copy.startsWith(`${path}${copyEnding}`))
    throw new UsageError(`the hub that answers has a ledger other than ${path}. Stop the hub of ${path} first.`, 1)
  return copy
}

type Backup = { file: string; rows: ArchiveCounts; bytes: number }

/** Writes everything in a ledger to a file that only its owner can read. */
export async function backUpLedger(io: Io, place: LedgerPlace, named: string): Promise<Backup> {
  const file = resolve(io.cwd, named)
  const { writeArchive } = await import('../ledgers/archive-file.ts')
  const archive = await openArchive(io, place).catch((error: unknown) => {
    if (!('path' in place && error instanceof LedgerTaken)) throw error
    return copiedArchive(io, place.path)
  })
  try {
    const from = 'path' in place ? 'sqlite' : 'postgres'
    const head = { made: new Date(io.clock.now()).toISOString(), from, version } as const
    return { file, ...(await writeArchive(file, head, archive.rows())) }
  } finally {
    await archive.close()
  }
}

/** Restores a ledger. `agree` is asked before a ledger that is not empty is replaced. */
export async function restoreLedger(
  io: Io,
  place: LedgerPlace,
  { file: named, replace, agree }: { file: string; replace: boolean; agree(question: string): Promise<boolean> },
): Promise<TakenOver | undefined> {
  const file = resolve(io.cwd, named)
  const { archiveRows, checkArchive } = await import('../ledgers/archive-file.ts')
  const { head, rows } = await checkArchive(file)
  const archive = await exclusively(place, () => openArchive(io, place))
  try {
    const isEmpty = await archive.isEmpty()
    if (!isEmpty && !replace)
      throw new UsageError(
        `hub restore: ${ledgerWords(place)} is not empty. To replace everything in it with the backup, add --replace.`,
        1,
      )
    const what = `${rowWords(rows)}, from ${head.made.slice(0, 16).replace('T', ' ')} UTC`
    const question = isEmpty
      ? `Restore ${what} into ${ledgerWords(place)}?`
      : `Replace everything in ${ledgerWords(place)} with ${what}?`
    if (!(await agree(question))) return undefined
    return await archive.take(archiveRows(file), { replace: !isEmpty })
  } finally {
    await archive.close()
  }
}

/** Copies the rows of a ledger in a file into a database. Existing rows stay as they are. */
export async function importLedger(io: Io, place: LedgerPlace, named: string): Promise<TakenOver> {
  if ('path' in place)
    throw new UsageError(
      'hub import copies a ledger in a file into PostgreSQL. Name the database: --ledger postgres://…, or hub.ledger in the settings.',
    )
  const path = resolve(io.cwd, named)
  if (!existsSync(path)) throw new UsageError(`hub import: there is no file ${path}.`, 1)
  const source = await exclusively({ path }, () => openArchive(io, { path }))
  try {
    const target = await openArchive(io, place)
    try {
      return await target.take(source.rows(), { replace: false })
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

const nouns: Readonly<Record<ArchiveKind, readonly [one: string, many: string]>> = {
  task: ['task', 'tasks'],
  note: ['note', 'notes'],
  agent: ['agent', 'agents'],
  key: ['key', 'keys'],
  invite: ['open invitation', 'open invitations'],
  pipeline: ['pipeline', 'pipelines'],
  schedule: ['schedule', 'schedules'],
  day: ['day of spending', 'days of spending'],
  mark: ['mark in inboxes', 'marks in inboxes'],
  machine: ['machine with rules', 'machines with rules'],
  removed: ['id of a removed task', 'ids of removed tasks'],
  text: ['long text', 'long texts'],
}

/** Formats counts of rows: "2 tasks, 3 notes and 1 key". */
export function rowWords(counts: ArchiveCounts): string {
  const words = archiveKinds.flatMap((kind) => {
    const count = counts[kind]
    return count === 0 ? [] : [`${groupDigits(count)} ${nouns[kind][count === 1 ? 0 : 1]}`]
  })
  return words.length < 2 ? (words[0] ?? 'nothing') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}
