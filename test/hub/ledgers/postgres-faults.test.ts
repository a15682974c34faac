import type { HubLedger, LedgerNews } from '../../../src/hub/model/hub-ledger.ts'
import type { Fault } from './postgres-line.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { emptyWrites as nothing } from '../../../src/hub/model/hub-ledger.ts'
import { realClock } from '../../../src/base/time/clock.ts'
import { LedgerAway } from '../../../src/hub/model/ledger-away.ts'
import { postgresAddress } from '../../../src/hub/ledgers/postgres/address.ts'
import { openSession } from '../../../src/hub/ledgers/postgres/connections.ts'
import { postgresLedger } from '../../../src/hub/ledgers/postgres/postgres-ledger.ts'
import { fullOnly, sized } from '../../full.ts'
import { sharedPostgres, skipWithoutPostgres, TestPostgres } from '../../postgres.ts'
import { until } from '../../until.ts'
import { PostgresLine } from './postgres-line.ts'

const skip = skipWithoutPostgres
const open = (address: string) => postgresLedger(postgresAddress(address, { env: {} }))

/** Writes one change; returns its number, and how often the round was run. */
async function write(ledger: HubLedger, id: string): Promise<{ seq: number; runs: number }> {
  let runs = 0
  const [made] = await ledger.round((round) => {
    runs++
    return round.write({ ...nothing, changes: [{ at: 1, type: 'gone', id }] })
  })
  return { seq: made!.seq, runs }
}

async function changes(ledger: HubLedger): Promise<string[]> {
  const all = await ledger.since(0, 100_000)
  return all!.map((change) => `${change.seq} ${change.type === 'gone' ? change.id : '?'}`)
}

async function cutTest(fault: Fault, runs: number): Promise<void> {
  const server = await sharedPostgres()
  const direct = await server.database()
  const line = await new PostgresLine(server.folder).open()
  const other = await open(direct)
  const ledger = await open(line.address(new URL(direct).pathname.slice(1)))
  await write(ledger, 'before')
  const happened = line.cut(fault)
  const written = write(ledger, 'cut')
  await happened
  // Another hub goes on meanwhile, where the lost round does not hold its rows.
  const others = write(other, 'other')
  const [{ seq, runs: made }] = await Promise.all([written, others])
  assert.deepEqual([made, (await changes(other)).filter((each) => each.endsWith(' cut'))], [runs, [`${seq} cut`]])
  await write(ledger, 'after')
  assert.equal((await changes(other)).at(-1), '4 after')
  await Promise.all([ledger.close(), other.close()])
  await line.close()
}

test('a round whose commit was not answered is found, and is not done twice', { skip }, () => cutTest('answer-lost', 1))

test('a round whose commit did not arrive is done again', { skip }, () => cutTest('never-sent', 2))

test('a round whose commit hangs is waited for until it cannot happen any more', { skip: skip || fullOnly }, () =>
  cutTest('stuck', 2),
)

test('a hub that stands still in a round holds its rows for seconds only', { skip: skip || fullOnly }, async () => {
  const address = await (await sharedPostgres()).database()
  const [still, other] = await Promise.all([open(address), open(address)])
  const day = { workspace: 'w', day: '2026-11-16', spent: { tokens: 1 } }
  await other.round((round) => round.write({ ...nothing, days: [day], changes: [{ at: 1, type: 'day', day }] }))
  let runs = 0
  let go = () => {}
  const stands = new Promise<void>((resolve) => (go = resolve))
  let isStanding = false
  const stopped = still.round(async (round) => {
    await round.days(['w'])
    isStanding = true
    if (runs++ === 0) await stands
    return round.write({ ...nothing, changes: [{ at: 2, type: 'gone', id: 'late' }] })
  })
  await until(() => isStanding)
  const spent = { ...day, spent: { tokens: 2 } }
  await other.round(async (round) => {
    await round.days(['w'])
    return round.write({ ...nothing, days: [spent], changes: [{ at: 3, type: 'day', day: spent }] })
  })
  go()
  await stopped
  assert.deepEqual([runs, (await changes(other)).at(-1)], [2, '3 late'])
  await Promise.all([still.close(), other.close()])
})

test(
  'while the database is away every call says so in one sentence, and afterwards all goes on by itself',
  { skip },
  async (t) => {
    const server = await TestPostgres.start()
    t.after(() => server.end())
    const ledger = await open(await server.database())
    const news: LedgerNews[] = []
    ledger.listen((one) => news.push(one))
    await write(ledger, 'before')
    await ledger.keys.put({ id: 'k', name: 'anna', role: 'member', hash: 'h', made: 1, by: 'me' })
    assert.equal((await ledger.keys.withHash('h'))?.name, 'anna')
    await server.kill()
    const ref = { sha: 'a'.repeat(64), media: 'text/plain', bytes: 1 }
    const calls = [
      () => write(ledger, 'away'),
      () => ledger.look((look) => look.counts()),
      () => ledger.since(0, 10),
      () => ledger.untilDue(),
      () => ledger.keys.all(),
      () => ledger.signIns.links(),
      () => ledger.keys.put({ id: 'x', name: 'x', role: 'member', hash: 'x', made: 1, by: 'me' }),
      () => ledger.blobs.put('text', 'text/plain'),
      () => ledger.blobs.read(ref)[Symbol.asyncIterator]().next(),
      // A key that was read before is not trusted once nobody can say whether it was revoked.
      () => until(async () => (await ledger.keys.withHash('h')) === undefined),
    ]
    const said = await Promise.all(
      calls.map((call) =>
        (call() as Promise<unknown>).then(
          () => 'went through',
          (error: unknown) => (error instanceof LedgerAway ? error.message : error),
        ),
      ),
    )
    const sentence =
      /^The hub cannot reach its database at the moment: [^.]+\. Try again in a few seconds; the hub goes on by itself\.$/
    assert.deepEqual(
      said.map((each) => (sentence.test(String(each)) ? 'away' : each)),
      calls.map(() => 'away'),
    )
    news.splice(0)
    await server.run()
    await until(() => write(ledger, 'again').catch(() => false))
    assert.deepEqual(await changes(ledger), ['1 before', '2 again'])
    assert.equal((await ledger.keys.withHash('h'))?.name, 'anna')
    await until(() => news.some(({ claimable }) => claimable))
    await ledger.close()
  },
)

test(
  'the database is killed while three hubs write: every round that was answered is there once, and no number is missing',
  { skip },
  async (t) => {
    const server = await TestPostgres.start()
    t.after(() => server.end())
    const address = await server.database()
    const ledgers = await Promise.all([open(address), open(address), open(address)])
    const answered: string[] = []
    let isOver = false
    const writing = ledgers.flatMap((ledger, hub) =>
      [0, 1].map(async (lane) => {
        for (let n = 0; !isOver; n++) {
          const id = `${hub}.${lane}.${n}`
          // A call that failed has not happened, and is made again.
          const { seq } = await until(() => write(ledger, id).catch(() => false as const))
          answered.push(`${seq} ${id}`)
        }
      }),
    )
    for (let kills = 0; kills < sized(2, 20); kills++) {
      const before = answered.length
      await until(() => answered.length > before + 30)
      await server.kill()
      await server.run()
    }
    isOver = true
    await Promise.all(writing)
    const stored = await changes(ledgers[0])
    assert.deepEqual(
      stored,
      answered.toSorted((a, b) => parseInt(a) - parseInt(b)),
    )
    assert.deepEqual(
      stored.map((each) => parseInt(each)),
      stored.map((_, at) => at + 1),
    )
    await Promise.all(ledgers.map((ledger) => ledger.close()))
  },
)

test('a key that one hub revokes ends at the others', { skip }, async () => {
  const address = await (await sharedPostgres()).database()
  const [one, other] = await Promise.all([open(address), open(address)])
  const key = { id: 'k', name: 'anna', role: 'member', hash: 'h', made: 1, by: 'me' } as const
  await one.keys.put(key)
  assert.deepEqual(await other.keys.withHash('h'), key)
  await one.keys.remove('k')
  assert.equal(await one.keys.withHash('h'), undefined)
  await until(async () => (await other.keys.withHash('h')) === undefined)
  await Promise.all([one.close(), other.close()])
})

test('a task that one hub adds is told to another at once, and to the hub itself', { skip }, async () => {
  const address = await (await sharedPostgres()).database()
  const [one, other] = await Promise.all([open(address), open(address)])
  const heard = { one: [] as LedgerNews[], other: [] as LedgerNews[] }
  one.listen((news) => heard.one.push(news))
  other.listen((news) => heard.other.push(news))
  await write(one, 'a')
  await until(() => heard.other.some(({ seq }) => seq === 1))
  assert.deepEqual(heard.one.at(-1), { seq: 1, claimable: false })
  await Promise.all([one.close(), other.close()])
})

test(
  'statements that were sent with one that failed fail for the same reason, and the session goes on',
  { skip },
  async () => {
    const address = postgresAddress(await (await sharedPostgres()).database(), { env: {} })
    const session = await openSession(address, realClock)
    const together = ['BEGIN', 'SELECT 1', 'SELECT 1 / 0', 'SELECT 2']
    const answers = await Promise.allSettled(together.map((statement) => session.run(statement)))
    assert.deepEqual(
      answers.map((answer) => (answer.status === 'rejected' ? (answer.reason as Error).message : 'done')),
      ['done', 'done', 'division by zero', 'division by zero'],
    )
    await session.run('ROLLBACK')
    assert.deepEqual(await session.rows('SELECT 3 AS three'), [{ three: 3 }])
    await session.end()
  },
)
