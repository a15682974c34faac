import type { ArchiveRow, LedgerArchive } from '../../../src/hub/model/ledger-archive.ts'
import type { HubLedger } from '../../../src/hub/model/hub-ledger.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync, readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { sha256 } from '../../../src/base/hash.ts'
import { noRows } from '../../../src/hub/model/ledger-archive.ts'
import { realClock } from '../../../src/base/time/clock.ts'
import { readText, StoreError } from '../../../src/core/talk/store.ts'
import { archiveRows, checkArchive, writeArchive } from '../../../src/hub/ledgers/archive-file.ts'
import { ledgerRows } from '../../../src/hub/ledgers/ledger-rows.ts'
import { postgresAddress } from '../../../src/hub/ledgers/postgres/address.ts'
import { postgresArchive } from '../../../src/hub/ledgers/postgres/archive.ts'
import { postgresLedger } from '../../../src/hub/ledgers/postgres/postgres-ledger.ts'
import { sqliteArchive } from '../../../src/hub/ledgers/sqlite/archive.ts'
import { fileHubLedger, LedgerTaken } from '../../../src/hub/ledgers/sqlite/hub-ledger.ts'
import { agentRow, moved, note, put, queued, row, taskIn } from '../../contract/ledger-rows.ts'
import { sharedPostgres, skipWithoutPostgres } from '../../postgres.ts'
import { tempFolder } from '../../store/temp.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const skip = skipWithoutPostgres
const clock = realClock
const head = { made: '2026-11-16T00:00:00Z', from: 'sqlite', version: '1' } as const

/** Fills a ledger with rows of every kind, with a text of several pieces among them; returns the hash of that text. */
async function fill(ledger: HubLedger): Promise<string> {
  const { sha } = await ledger.blobs.put('long '.repeat(200_000), 'text/plain')
  const notes = [1, 2, 3].map((number) => note(number))
  const pipeline = { id: 'p1', name: 'nightly', by: 'me', created: 1, digest: 'd', tasks: ['t1'] }
  const schedule = {
    id: 's1',
    name: 'nightly',
    plan: { name: 'nightly', tasks: [] },
    cron: '0 3 * * *',
    zone: 'UTC',
    overlap: 'skip' as const,
    digest: 'd',
    by: 'me',
    created: 1,
    runs: 0,
    skipped: 0,
    next: 5,
  }
  await put(ledger, {
    tasks: [
      row(queued('t1', { prompt: 'NUL \0 and "ö"', notes, noted: 3 }), { ready: true }),
      row(taskIn('COMPLETED', 't2', { result: { message: `see ${sha}` } })),
    ],
    notes: notes.map((one) => ({ task: 't1', note: one })),
    agents: [agentRow('a', { inbox: ['hello'], paused: { by: 'anna', at: 5 } })],
    pipelines: [{ pipeline, due: 9 }],
    schedules: [schedule],
    days: [{ workspace: '/shop', day: '2026-11-16', spent: { tokens: 7 } }],
    marks: [{ item: 'i', person: 'anna', read: true }],
    machines: [{ machine: 'build-7', labels: ['gpu'], limit: 4, pause: { by: 'anna', at: 5, why: 'disk full' } }],
    changes: [moved('t1')],
  })
  await put(ledger, { removed: [{ id: 'gone', state: 'FAILED', at: Date.now(), keptMs: 5 }] })
  const invite = { by: 'user', made: 1, ends: Date.now() + 3_600_000 }
  await ledger.invites.put({ id: 'i-1', name: 'build-7', hash: 'i1', ...invite }, 0)
  await ledger.invites.put({ id: 'i-2', name: 'build-8', hash: 'i2', ...invite }, 0)
  await ledger.invites.use('i-2', { hash: 'k2', at: 2 })
  await ledger.invites.put({ id: 'i-3', name: 'build-9', hash: 'i3', ...invite, ends: 5 }, 0)
  await ledger.keys.put({ id: 'key-1', name: 'anna', role: 'member', hash: 'h', made: 1, by: 'user', used: 5 })
  return sha
}

/** The rows in an order of their own, without what a restore changes. */
async function rowsOf(rows: AsyncIterable<ArchiveRow>): Promise<string[]> {
  const all: string[] = []
  for await (const each of rows) all.push(JSON.stringify(each))
  return all.toSorted()
}

async function postgres(): Promise<{ archive: LedgerArchive; open(): Promise<HubLedger> }> {
  const address = postgresAddress(await (await sharedPostgres()).database(), { env: {} })
  return { archive: await postgresArchive(address, clock), open: () => postgresLedger(address) }
}

test('a backup goes from SQLite to PostgreSQL and back, whole, and only its owner can read it', { skip }, async (t) => {
  const folder = tempFolder(t)
  const [path, file, again] = ['hub.db', 'one.backup', 'two.backup'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const first = fileHubLedger(path)
  const sha = await fill(first)
  await assert.rejects(sqliteArchive(path, { clock }), LedgerTaken)
  await first.close()
  const source = await sqliteArchive(path, { clock })
  const expected = await rowsOf(source.rows())
  const { rows } = await writeArchive(file, head, source.rows())
  await source.close()
  assert.deepEqual(rows, {
    task: 2,
    note: 3,
    agent: 1,
    key: 1,
    invite: 1,
    pipeline: 1,
    schedule: 1,
    day: 1,
    mark: 1,
    machine: 1,
    removed: 1,
    text: 1,
  })
  assert.deepEqual(await checkArchive(file), { head, rows })
  assert.equal(statSync(file).mode & 0o777, 0o600)
  await assert.rejects(writeArchive(file, head, source.rows()), /exists already/)

  const { archive, open } = await postgres()
  assert.equal(await archive.isEmpty(), true)
  const before = await open()
  const { epoch } = await before.look(async (look) => look)
  assert.deepEqual((await archive.take(archiveRows(file), { replace: false })).taken, rows)
  assert.notEqual((await before.look(async (look) => look)).epoch, epoch)
  assert.deepEqual(await before.since(0, 10, epoch), undefined)
  assert.deepEqual(await rowsOf(archive.rows()), expected)
  assert.deepEqual(await before.look((look) => look.counts()), [
    { state: 'QUEUED', count: 1, oldest: 1 },
    { state: 'COMPLETED', count: 1, oldest: 1 },
  ])
  assert.equal(await readText(before.blobs, { sha, media: '', bytes: 0 }), 'long '.repeat(200_000))
  assert.deepEqual(
    await before.look(async (look) => (await look.removed(['gone'])).map(({ id, state }) => [id, state])),
    [['gone', 'FAILED']],
  )
  assert.deepEqual(
    (await before.invites.all()).map(({ name }) => name),
    ['build-7'],
    'an invitation that was used or is over cannot be used again',
  )
  // A second time takes nothing: everything is there.
  const { taken, there } = await archive.take(archiveRows(file), { replace: false })
  assert.deepEqual([Object.values(taken).some(Boolean), there], [false, rows])
  await put(before, { tasks: [row(queued('t9'))], changes: [moved('t9')] })
  await archive.take(archiveRows(file), { replace: true })
  assert.deepEqual(await rowsOf(archive.rows()), expected)

  await writeArchive(again, { ...head, from: 'postgres' }, archive.rows())
  await archive.close()
  await before.close()
  const target = await sqliteArchive(path, { clock })
  await assert.rejects(target.take(archiveRows(again), { replace: false }), /is not empty/)
  await target.take(archiveRows(again), { replace: true })
  await target.close()
  const back = fileHubLedger(path)
  assert.deepEqual(await rowsOf(ledgerRows(back)), expected)
  await back.close()
  const kept = readdirSync(folder).filter((name) => name.includes('.replaced'))
  assert.deepEqual(kept.map((name) => name.replace(/\.\d.*Z/, '')).toSorted(), [
    'hub.db.replaced',
    'hub.db.replaced-texts',
  ])
})

test('a backup of an older termaite, which counts fewer kinds of rows, is whole', async (t) => {
  const file = join(tempFolder(t), 'old.backup')
  const lines = [
    JSON.stringify({ backup: 'termaite ledger', format: 1, ...head }),
    JSON.stringify({ mark: { item: 'i' } }),
  ].map((line) => `${line}\n`)
  const { machine: _, ...rows } = { ...noRows(), mark: 1 }
  const hash = sha256()
  for (const line of lines) hash.update(line)
  const end = `${JSON.stringify({ end: { rows, sha256: hash.digest('hex') } })}\n`
  writeFileSync(file, gzipSync([...lines, end].join('')))
  assert.deepEqual(await checkArchive(file), { head, rows: { ...noRows(), mark: 1 } })
})

test('a backup that is cut off or changed is refused before anything is restored', async (t) => {
  const folder = tempFolder(t)
  const file = join(folder, 'one.backup')
  const ledger = fileHubLedger(join(folder, 'hub.db'))
  await fill(ledger)
  await writeArchive(file, head, ledgerRows(ledger))
  await ledger.close()
  const whole = readFileSync(file)
  const refused = async (bytes: Buffer) => {
    writeFileSync(file, bytes)
    return checkArchive(file).then(
      () => 'taken',
      (error: unknown) => (error instanceof StoreError ? error.message.replace(file, 'FILE') : error),
    )
  }
  const flipped = Buffer.from(whole)
  flipped[Math.floor(whole.length / 2)]! ^= 1
  golden(t, [
    await refused(whole.subarray(0, whole.length - 1)),
    await refused(whole.subarray(0, Math.floor(whole.length / 2))),
    await refused(Buffer.alloc(0)),
    await refused(flipped),
    await refused(Buffer.from('something else')),
  ])
  truncateSync(file)
  await assert.rejects(checkArchive(join(folder, 'none')), /cannot read .*none/)
})

test('a backup that cannot be written leaves no file behind', async (t) => {
  const folder = tempFolder(t)
  async function* failing(): AsyncGenerator<ArchiveRow> {
    yield { mark: { item: 'i' } }
    throw Object.assign(new Error('full'), { code: 'ENOSPC' })
  }
  await golden.rejects(t, writeArchive(join(folder, 'x.backup'), head, failing()), { [folder]: '<folder>' })
  assert.deepEqual(readdirSync(folder), [])
})

test('a restore that fails in the middle changes nothing', { skip }, async (t) => {
  const { archive, open } = await postgres()
  const ledger = await open()
  await put(ledger, { tasks: [row(queued('t1'))], changes: [moved('t1')] })
  const { epoch } = await ledger.look(async (look) => look)
  async function* failing(): AsyncGenerator<ArchiveRow> {
    yield { task: row(queued('t2')) }
    yield { text: { sha: 'a'.repeat(64), bytes: 3 } }
    yield { piece: Buffer.from('xyz').toString('base64') }
  }
  await golden.rejects(t, archive.take(failing(), { replace: true }))
  const after = await ledger.look(async (look) => ({ epoch: look.epoch, tasks: await look.list({}) }))
  assert.deepEqual(after, { epoch, tasks: [row(queued('t1'))] })
  await archive.close()
  await ledger.close()
})
