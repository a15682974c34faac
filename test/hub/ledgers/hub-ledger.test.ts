import type { HubLedger } from '../../../src/hub/model/hub-ledger.ts'
import { after, test } from 'node:test'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { HandClock } from '../../hand-clock.ts'
import { StoreError } from '../../../src/core/talk/store.ts'
import { fileHubLedger, LedgerTaken, memoryHubLedger } from '../../../src/hub/ledgers/sqlite/hub-ledger.ts'
import { ledgerContract } from '../../contract/ledger.ts'
import { agentRow, ids, moved, nothing, put, queued, row, taskIn, tried } from '../../contract/ledger-rows.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const folder = mkdtempSync(join(tmpdir(), 'termaite-ledger-'))
after(() => rmSync(folder, { recursive: true }))

let count = 0
const known = new WeakMap<HubLedger, { path: string; clock: HandClock }>()
/** A ledger whose clock is turned by hand; it begins at the time of day, as the files beside it do. */
const open = (path = join(folder, `${count++}.db`), clock = new HandClock(Date.now())) => {
  const ledger = fileHubLedger(path, { clock })
  known.set(ledger, { path, clock })
  return ledger
}
const partsOf = (ledger: HubLedger) => known.get(ledger)!
const again = async (ledger: HubLedger) => {
  await ledger.close()
  const { path, clock } = partsOf(ledger)
  return open(path, clock)
}
const age = (ledger: HubLedger) => partsOf(ledger).clock.turn(48 * 3_600_000)

ledgerContract('in memory', {
  async make() {
    const clock = new HandClock()
    const ledger = memoryHubLedger({ clock })
    known.set(ledger, { path: '', clock })
    return ledger
  },
  again: async (ledger) => ledger,
  age,
})
ledgerContract('in SQLite', { make: async () => open(), again, age })

const minute = 60_000

/** A file of the ledger, open without its program. */
function raw(path: string, work: (db: DatabaseSync) => void): void {
  const db = new DatabaseSync(path)
  work(db)
  db.close()
}

test('only its owner can read the ledger, and one process has it at a time', async () => {
  const ledger = open()
  const { path } = partsOf(ledger)
  await put(ledger, { changes: [moved('t1')] })
  const modes = readdirSync(folder).flatMap((name) => (join(folder, name).startsWith(path) ? [name] : []))
  for (const name of modes) assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600, name)
  assert.throws(() => fileHubLedger(path), LedgerTaken)
  const other = `import { fileHubLedger } from ${JSON.stringify(import.meta.resolve('../../../src/hub/ledgers/sqlite/hub-ledger.ts'))}
    fileHubLedger(${JSON.stringify(path)})`
  const run = spawnSync(process.execPath, ['--input-type=module', '-e', other], { encoding: 'utf8' })
  assert.match(run.stderr, /another process has \S+ open\n/)
  await ledger.close()
  await ledger.close()
  await fileHubLedger(path).close()
})

test('a write that was not committed when its process was killed has not happened', async () => {
  const path = join(folder, 'killed.db')
  const script = `import { fileHubLedger } from ${JSON.stringify(import.meta.resolve('../../../src/hub/ledgers/sqlite/hub-ledger.ts'))}
    import { nothing, row, queued, moved } from ${JSON.stringify(import.meta.resolve('../../contract/ledger-rows.ts'))}
    const ledger = fileHubLedger(${JSON.stringify(path)})
    await ledger.round((round) => round.write({ ...nothing, tasks: [row(queued('t1'))], changes: [moved('t1')] }))
    await ledger.round(async (round) => {
      await round.write({ ...nothing, tasks: [row(queued('t2'))], changes: [moved('t2')] })
      process.kill(process.pid, 'SIGKILL')
    })`
  const run = spawnSync(process.execPath, ['--input-type=module', '-e', script])
  assert.equal(run.signal, 'SIGKILL')
  const ledger = open(path)
  assert.deepEqual(await ledger.look(async (look) => [look.seq, ids(await look.list({}))]), [1, ['t1']])
  await ledger.close()
})

for (const [title, spoil] of [
  ['torn', (path: string) => writeFileSync(path, Buffer.alloc(8_192, 7))],
  ['no database', (path: string) => writeFileSync(path, 'hello, this is no database at all')],
] as const)
  test(`a ledger that is ${title} is set aside with everything beside it, and a new one begins`, async (t) => {
    const first = open()
    const { path, clock } = partsOf(first)
    await first.blobs.put('text', 'text/plain')
    await put(first, { tasks: [row(queued('t1'))] })
    await first.close()
    for (const ending of ['-wal', '-shm']) rmSync(`${path}${ending}`, { force: true })
    spoil(path)
    const words: string[] = []
    const ledger = fileHubLedger(path, { clock, tell: (said) => words.push(said) })
    const aside = `${path}.${new Date(clock.now()).toISOString().replaceAll(/[:.]/g, '-')}.broken`
    golden(t, words, { [folder]: '<folder>', [aside]: '<aside>' })
    assert.deepEqual(await ledger.look((look) => look.list({})), [])
    assert.deepEqual(readdirSync(`${aside}-texts`).length, 1)
    await ledger.close()
  })

test('a ledger of a newer termaite is left alone', async (t) => {
  const ledger = open()
  const { path } = partsOf(ledger)
  await put(ledger, { tasks: [row(queued('t1'))] })
  await ledger.close()
  raw(path, (db) => db.exec('PRAGMA user_version = 99'))
  golden.throws(t, () => fileHubLedger(path), { [folder]: '<folder>' })
  raw(path, (db) => assert.deepEqual({ ...db.prepare('SELECT id FROM tasks').get() }, { id: 't1' }))
})

test('a round that cannot be stored has not happened, and says why; the next one is stored', async () => {
  const ledger = open()
  const { path } = partsOf(ledger)
  await put(ledger, { tasks: [row(queued('t1'))], agents: [agentRow('a')], changes: [moved('t1')] })
  await ledger.close()
  // The file stands for a full disk: it takes no more rows of this kind.
  raw(path, (db) =>
    db.exec(`CREATE TRIGGER full BEFORE INSERT ON changes WHEN new.seq = 3 BEGIN SELECT RAISE(ABORT, 'full'); END`),
  )
  const again = open(path)
  const write = { tasks: [row(taskIn('FAILED', 't1'))], gone: ['a'], changes: [moved('t1'), moved('t1')] }
  await assert.rejects(
    put(again, write),
    (error: unknown) => error instanceof StoreError && /: full$/.test(error.message),
  )
  // An error that the work of a round hides is one all the same.
  await assert.rejects(
    again.round((round) => round.write({ ...nothing, ...write }).catch(() => [])),
    StoreError,
  )
  const read = async (look: Parameters<Parameters<HubLedger['look']>[0]>[0]) => [
    look.seq,
    await look.tasks(['t1']),
    await look.agents(),
    await look.counts(),
  ]
  const counts = [{ state: 'QUEUED', count: 1, oldest: 1 }]
  assert.deepEqual(await again.look(read), [1, [row(queued('t1'))], [agentRow('a')], counts])
  assert.deepEqual(await put(again, { changes: [moved('t1')] }), [{ seq: 2, ...moved('t1') }])
  await again.close()
})

test('keys that are written while a round is under way stay when the round fails', async () => {
  const ledger = open()
  const key = { id: 'k', name: 'anna', role: 'member' as const, hash: 'h', made: 1, by: 'me' }
  let putting: Promise<boolean> | undefined
  const failing = ledger.round(async (round) => {
    await round.write({ ...nothing, tasks: [row(queued('t1'))] })
    putting = ledger.keys.put(key)
    assert.deepEqual(await ledger.keys.all(), [])
    throw new Error('no')
  })
  await assert.rejects(failing, /no/)
  assert.equal(await putting, true)
  const opened = await again(ledger)
  assert.deepEqual(await opened.keys.all(), [key])
  await opened.close()
})

test('after a start no agent waits, agents have some time to be heard, and the steady time does not go back', async () => {
  const clock = new HandClock()
  const path = join(folder, 'start.db')
  const first = open(path, clock)
  await clock.turn(5 * minute)
  const { steady } = await first.look(async (look) => look)
  await put(first, {
    tasks: [
      row(taskIn('PENDING_ACK', 'offered'), { due: steady + 1 }),
      row(taskIn('ASSIGNED', 'old'), { due: steady + 1 }),
      row(taskIn('IN_PROGRESS', 'new'), { due: steady + 30 * minute }),
      row(taskIn('BLOCKED', 'blocked')),
      row(queued('paused'), { due: steady + 7 }),
    ],
    agents: [agentRow('a', {}, { wait: { hub: 'h', number: 1, until: steady + minute }, left: 4, heard: steady })],
  })
  await first.close()
  clock.set(clock.now() - 60 * minute)
  const ledger = open(path, clock)
  const now = await ledger.look(async (look) => look)
  assert.deepEqual([now.steady, now.now], [steady, clock.now()])
  const due = await ledger.look(async (look) =>
    Object.fromEntries((await look.list({})).map((one) => [one.task.id, one.due && one.due - steady])),
  )
  assert.deepEqual(due, {
    offered: 30_000,
    old: 10 * minute,
    new: 30 * minute,
    blocked: undefined,
    paused: 7,
  })
  assert.deepEqual(await ledger.look((look) => look.agents()), [agentRow('a', {}, { left: 4, heard: steady })])
  await clock.turn(minute)
  clock.set(clock.now() + 600 * minute)
  assert.equal((await ledger.look(async (look) => look)).steady, steady + minute)
  assert.equal(await ledger.untilDue(), 0)
  await ledger.close()
})

test('changes that are not kept any more are reported as missing, never left out in silence', async () => {
  const ledger = open()
  const changes = Array.from({ length: 52_000 }, () => moved('t1'))
  await put(ledger, { changes })
  assert.deepEqual(
    [
      await ledger.since(1, 1),
      await ledger.since(1_999, 1),
      (await ledger.since(2_000, 1))?.[0]?.seq,
      await ledger.look(async ({ seq }) => seq),
    ],
    [undefined, undefined, 2_001, 52_000],
  )
  await ledger.close()
})

test('finished tasks are not read when the ledger is opened, nor by rounds, counts and sweeps', async () => {
  const first = open()
  const { path, clock } = partsOf(first)
  await put(first, { tasks: [row(taskIn('COMPLETED', 'done')), row(queued('t1'), { ready: true })] })
  await first.close()
  raw(path, (db) => db.exec(`UPDATE tasks SET task = 'cannot be read' WHERE id = 'done'`))
  const ledger = open(path, clock)
  const query = { agents: ['a'], stopped: [], except: [], wishedBefore: 0, awayBefore: 0, most: 9 }
  const seen = await tried(ledger, async (round) => [
    ids(await round.list({ states: ['QUEUED'] })),
    (await round.counts()).map(({ count }) => count),
    await round.overdue(9),
    await round.held(),
    await round.dependents(['done']),
    await round.claimable(query),
  ])
  assert.deepEqual(seen, [['t1'], [1, 1], [], [], [], []])
  await ledger.sweep()
  await ledger.close()
})

test('a disk that is nearly full takes no long texts, and small changes go on', async (t) => {
  let free = 1e9
  const ledger = fileHubLedger(join(folder, `${count++}.db`), { free: () => free })
  const kept = await ledger.blobs.put('before', 'text/plain')
  free = 100_000_000
  assert.equal(ledger.freeBytes?.(), free)
  await golden.rejects(t, ledger.blobs.put('diff', 'text/plain'))
  await golden.rejects(t, ledger.blobs.writer('text/plain').write(Buffer.from('diff')))
  await put(ledger, { tasks: [row(queued('t1'))], changes: [moved('t1')] })
  assert.deepEqual(ids(await ledger.look((look) => look.list({}))), ['t1'])
  free = 1e9
  assert.equal((await ledger.blobs.put('before', 'text/plain')).sha, kept.sha)
  await ledger.close()
})
