import type { ArchiveCounts, ArchiveKind, ArchiveRow } from '../model/ledger-archive.ts'
import { constants, createReadStream, createWriteStream } from 'node:fs'
import { link, open, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { errorCode, syncFolder } from '../../base/files/files.ts'
import { sha256 } from '../../base/hash.ts'
import { randomName } from '../../base/id.ts'
import { StoreError } from '../../core/talk/store.ts'
import { kindOf, noRows } from '../model/ledger-archive.ts'
import { storeError } from '../../store/store-error.ts'

/** The format of a backup; this program writes and reads no other format. */
const format = 1

/** The first line of a backup. */
type ArchiveHead = { made: string; from: 'sqlite' | 'postgres'; version: string }

type Head = ArchiveHead & { backup: 'termaite ledger'; format: number }
type End = { end: { rows: ArchiveCounts; sha256: string } }

/**
 * Writes a backup as compressed JSON lines. The last line contains the number of rows and the hash of all lines before it, so that an
 * incomplete file is recognised. The file gets its name only when it is complete, and only its owner can read it.
 */
export async function writeArchive(
  path: string,
  head: ArchiveHead,
  rows: AsyncIterable<ArchiveRow>,
): Promise<{ rows: ArchiveCounts; bytes: number }> {
  if (await stat(path).catch(() => undefined))
    throw new StoreError(`${path} exists already; choose another name for the backup`)
  const part = `${path}.${randomName()}.part`
  const counts = noRows()
  try {
    const file = createWriteStream(part, { flags: 'wx', mode: 0o600 })
    await pipeline(Readable.from(archiveLines(head, rows, counts)), createGzip({ level: 6 }), file)
    const handle = await open(part, constants.O_RDWR)
    await handle.sync()
    const { size } = await handle.stat()
    await handle.close()
    // A link, not a rename, because a rename would replace a file that somebody created in the meantime.
    await link(part, path)
    await rm(part)
    syncFolder(dirname(path))
    return { rows: counts, bytes: size }
  } catch (error) {
    await rm(part, { force: true })
    throw errorCode(error) === undefined ? error : storeError('write', path, error)
  }
}

async function* archiveLines(
  head: ArchiveHead,
  rows: AsyncIterable<ArchiveRow>,
  counts: ArchiveCounts,
): AsyncGenerator<string> {
  const hash = sha256()
  const line = (value: unknown) => {
    const text = `${JSON.stringify(value)}\n`
    hash.update(text)
    return text
  }
  const first: Head = { backup: 'termaite ledger', format, ...head }
  yield line(first)
  for await (const row of rows) {
    const kind = kindOf(row)
    if (kind) counts[kind]++
    yield line(row)
  }
  const last: End = { end: { rows: counts, sha256: hash.digest('hex') } }
  yield `${JSON.stringify(last)}\n`
}

/** Reads a whole backup and checks it. An incomplete file is refused. */
export async function checkArchive(path: string): Promise<{ head: ArchiveHead; rows: ArchiveCounts }> {
  const counts = noRows()
  for await (const row of archiveRows(path)) {
    const kind = kindOf(row)
    if (kind) counts[kind]++
  }
  return { head: await headOf(path), rows: counts }
}

async function headOf(path: string): Promise<ArchiveHead> {
  for await (const line of linesOf(path)) return headIn(path, line)
  throw torn(path)
}

function headIn(path: string, line: string): ArchiveHead {
  const head = parsed<Partial<Head>>(path, line)
  if (head.backup !== 'termaite ledger') throw new StoreError(`${path} is not a backup of a ledger`)
  if (head.format !== format)
    throw new StoreError(`${path} has the format ${head.format}, and this termaite reads ${format}. Update termaite.`)
  return { made: head.made ?? '', from: head.from ?? 'sqlite', version: head.version ?? '' }
}

/** The rows of a backup. Throws at the end if the file is incomplete, so callers read it once as a whole before they act. */
export async function* archiveRows(path: string): AsyncGenerator<ArchiveRow> {
  const hash = sha256()
  const counts = noRows()
  let lines = 0
  let end: End['end'] | undefined
  for await (const line of linesOf(path)) {
    if (end) throw torn(path)
    if (lines++ === 0) headIn(path, line)
    else {
      const row = parsed<ArchiveRow | End>(path, line)
      if ('end' in row) {
        end = row.end
        continue
      }
      const kind = kindOf(row)
      if (!kind && !('piece' in row))
        throw new StoreError(`${path} has a kind of row that this termaite does not support. Update termaite.`)
      if (kind) counts[kind]++
      yield row
    }
    hash.update(line).update('\n')
  }
  // A backup of an older termaite does not count kinds of rows that did not exist then.
  const isWhole =
    end?.sha256 === hash.digest('hex') &&
    Object.entries(counts).every(([kind, count]) => (end.rows[kind as ArchiveKind] ?? 0) === count)
  if (!isWhole) throw torn(path)
}

const torn = (path: string) =>
  new StoreError(`${path} is not complete: it was cut off or changed. Nothing was restored; use another backup`)

function parsed<T>(path: string, line: string): T {
  try {
    return JSON.parse(line) as T
  } catch {
    throw torn(path)
  }
}

/** The lines of a backup. If the stream fails, the iteration throws its error. */
async function* linesOf(path: string): AsyncGenerator<string> {
  const file = createReadStream(path)
  const text = createGunzip()
  file.on('error', (error) => text.destroy(error)).pipe(text)
  const decoder = new TextDecoder()
  let begun = ''
  try {
    for await (const chunk of text) {
      const lines = (begun + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n')
      begun = lines.pop()!
      yield* lines
    }
  } catch (error) {
    const code = errorCode(error)
    if (code?.startsWith('Z_')) throw torn(path)
    if (code === undefined || error instanceof StoreError) throw error
    throw storeError('read', path, error)
  } finally {
    file.destroy()
    text.destroy()
  }
  if (begun !== '') throw torn(path)
}
