import type { HubLedger } from '../../../src/hub/model/hub-ledger.ts'
import type { PostgresAddress } from '../../../src/hub/ledgers/postgres/address.ts'
import { after, test } from 'node:test'
import assert from 'node:assert/strict'
import { realClock } from '../../../src/base/time/clock.ts'
import { PostgresAuditBook } from '../../../src/hub/ledgers/postgres/postgres-audit.ts'
import { Connections } from '../../../src/hub/ledgers/postgres/connections.ts'
import { PostgresHubBook } from '../../../src/hub/ledgers/postgres/hub-book.ts'
import { Listener } from '../../../src/hub/ledgers/postgres/listener.ts'
import { PostgresBooks } from '../../../src/hub/ledgers/postgres/postgres-books.ts'
import { postgresAddress } from '../../../src/hub/ledgers/postgres/address.ts'
import { postgresLedger } from '../../../src/hub/ledgers/postgres/postgres-ledger.ts'
import { auditContract } from '../../contract/hub-audit.ts'
import { hubBookContract } from '../../contract/hub-book.ts'
import { sharedPostgres, skipWithoutPostgres } from '../../postgres.ts'

const skip = skipWithoutPostgres
const open: HubLedger[] = []
after(() => Promise.all(open.map((ledger) => ledger.close())))

async function two() {
  const address = postgresAddress(await (await sharedPostgres()).database(), { env: {} })
  const ledgers = await Promise.all([postgresLedger(address), postgresLedger(address)])
  open.push(...ledgers)
  return ledgers
}

const connected: Connections[] = []
after(() => Promise.all(connected.map((connections) => connections.close())))

function connectionsTo(address: PostgresAddress): Connections {
  const connections = new Connections(address, realClock, 2)
  connected.push(connections)
  return connections
}

if (skip) test('the contract of address books in PostgreSQL', { skip }, () => {})
else
  hubBookContract('in PostgreSQL', async () => {
    const [{ address }] = await two()
    const server = await sharedPostgres()
    let now = 1_000
    await server.sql('CREATE TABLE book_clock AS SELECT 1000::float8 AS now', address.database)
    return {
      book: new PostgresHubBook(connectionsTo(address), '(SELECT now FROM public.book_clock)'),
      now: () => now,
      async turn(ms) {
        now += ms
        await server.sql(`UPDATE book_clock SET now = ${now}`, address.database)
      },
    }
  })

test('all hubs of a ledger have one secret', { skip }, async () => {
  const [one, other] = await two()
  const secrets = await Promise.all([one.book.secret(), other.book.secret()])
  assert.deepEqual(secrets[0], secrets[1])
})

if (skip) test('the contract of audits in PostgreSQL', { skip }, () => {})
else
  auditContract('in PostgreSQL', {
    async make(clock, bounds) {
      const [{ address }] = await two()
      const connections = connectionsTo(address)
      const books = new PostgresBooks(connections, new Listener(address, clock, 'test'))
      return new PostgresAuditBook(connections, books, clock, bounds)
    },
  })

test('the acts of all hubs are in one audit', { skip }, async () => {
  const [one, other] = await two()
  const act = { at: 1, by: 'a', key: 'k', role: 'member', act: 'tasks approve', outcome: 'done', status: 200 } as const
  await one.audit().add([act])
  await other.audit().add([{ ...act, by: 'b' }])
  const acts = await one.audit().page({ most: 9 })
  assert.deepEqual(
    acts.map(({ number, by }) => `${number} ${by}`),
    ['1 a', '2 b'],
  )
})
