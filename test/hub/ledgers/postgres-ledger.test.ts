import type { HubLedger, NewChange, TaskRow } from '../../../src/hub/model/hub-ledger.ts'
import type { PostgresAddress } from '../../../src/hub/ledgers/postgres/address.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { emptyWrites as nothing } from '../../../src/hub/model/hub-ledger.ts'
import { postgresAddress } from '../../../src/hub/ledgers/postgres/address.ts'
import { postgresLedger } from '../../../src/hub/ledgers/postgres/postgres-ledger.ts'
import { ledgerContract } from '../../contract/ledger.ts'
import { agentRow, put, row, taskIn, queued } from '../../contract/ledger-rows.ts'
import { sized } from '../../full.ts'
import { sharedPostgres, skipWithoutPostgres } from '../../postgres.ts'
import { until } from '../../until.ts'

const skip = skipWithoutPostgres

/** Ledgers on one new database, as several hubs have it. */
async function hubs(count: number): Promise<HubLedger[]> {
  const address = postgresAddress(await (await sharedPostgres()).database(), { env: {} })
  return Promise.all(Array.from({ length: count }, () => postgresLedger(address)))
}

const change = (id: string): NewChange => ({ at: 1, type: 'gone', id })

const addresses = new WeakMap<HubLedger, PostgresAddress>()

async function open(address: PostgresAddress): Promise<HubLedger> {
  const ledger = await postgresLedger(address)
  addresses.set(ledger, address)
  return ledger
}

if (skip) test('the contract of ledgers in PostgreSQL', { skip }, () => {})
else
  ledgerContract('in PostgreSQL', {
    make: async () => open(postgresAddress(await (await sharedPostgres()).database(), { env: {} })),
    async again(ledger) {
      await ledger.close()
      return open(addresses.get(ledger)!)
    },
    async age(ledger) {
      const { database } = addresses.get(ledger)!
      await (await sharedPostgres()).sql(`UPDATE termaite.texts SET made = made - interval '2 days'`, database)
    },
    shared: (ledger) => open(addresses.get(ledger)!),
  })

test(
  'the numbers of four hubs that write at once have no hole, for a follower that reads meanwhile',
  { skip },
  async () => {
    const ledgers = await hubs(4)
    const [follower] = ledgers
    const rounds = sized(40, 400)
    const seen: number[] = []
    let isOver = false
    const following = (async () => {
      for (let seq = 0; ;) {
        const ended = isOver
        const changes = await follower!.since(seq, 1_000)
        for (const each of changes!) seen.push(each.seq)
        seq = seen.at(-1) ?? 0
        if (ended && changes!.length === 0) return
      }
    })()
    await Promise.all(
      ledgers.map(async (ledger, at) => {
        for (let n = 0; n < rounds; n++)
          await ledger.round((round) => round.write({ ...nothing, changes: [change(`${at} ${n}`), change('x')] }))
      }),
    )
    isOver = true
    await following
    assert.deepEqual(
      seen,
      Array.from({ length: 4 * rounds * 2 }, (_, at) => at + 1),
    )
    await Promise.all(ledgers.map((ledger) => ledger.close()))
  },
)

test(
  'a row that two hubs make at once is made once, and the second hub works on the row of the first',
  { skip },
  async () => {
    const ledgers = await hubs(3)
    const done = await Promise.all(
      ledgers.map((ledger, at) =>
        ledger.round(async (round) => {
          const [found] = await round.tasks(['t'])
          if (found) return `found ${found.task.prompt}`
          await round.write({
            ...nothing,
            tasks: [{ task: queued('t', { prompt: `by ${at}` }), touched: 1, ready: true }],
            changes: [change('t')],
          })
          return `made by ${at}`
        }),
      ),
    )
    const maker = done.find((each) => each.startsWith('made'))!.slice('made '.length)
    assert.deepEqual(
      done.filter((each) => !each.startsWith('made')),
      [`found ${maker}`, `found ${maker}`],
    )
    assert.deepEqual(await ledgers[0]!.look((look) => look.counts()), [{ state: 'QUEUED', count: 1, oldest: 1 }])
    await Promise.all(ledgers.map((ledger) => ledger.close()))
  },
)

test('rounds that wait for each other in a circle both succeed, one after the other', { skip }, async () => {
  const [one, other] = await hubs(2)
  await one!.round((round) =>
    round.write({
      ...nothing,
      tasks: ['a', 'b'].map((id) => ({ task: queued(id), touched: 0, ready: true })),
      changes: [change('a')],
    }),
  )
  const add = (ledger: HubLedger, ids: string[], met: () => Promise<void>) =>
    ledger.round(async (round) => {
      const rows: TaskRow[] = []
      for (const id of ids) {
        rows.push(...(await round.tasks([id])))
        await met()
      }
      return round.write({
        ...nothing,
        tasks: rows.map((row) => ({ ...row, touched: row.touched + 1 })),
        changes: [change('x')],
      })
    })
  let met = 0
  const both = async () => {
    met++
    // Only the first meeting is forced: a round that is repeated comes alone.
    if (met <= 2) await until(() => met >= 2)
  }
  await Promise.all([add(one!, ['a', 'b'], both), add(other!, ['b', 'a'], both)])
  const rows = await one!.look((look) => look.tasks(['a', 'b']))
  assert.deepEqual(
    rows.map(({ touched }) => touched),
    [2, 2],
  )
  await Promise.all([one!.close(), other!.close()])
})

test('a ledger of the first schema gets the tables and indexes of a new one', { skip }, async () => {
  const server = await sharedPostgres()
  const shape = async (database: string) =>
    (
      await server.sql(
        `SELECT c.relname AS name, a.attname AS column, format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull AS needed,
            CASE WHEN c.relkind = 'i' THEN pg_get_indexdef(c.oid) END AS index
          FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
          WHERE c.relnamespace = 'termaite'::regnamespace ORDER BY 1, 2`,
        database,
      )
    ).map((each) => ({ ...each }))
  const [old, fresh] = await Promise.all([1, 2].map(async () => postgresAddress(await server.database(), { env: {} })))
  await server.sql(readFileSync('test/fixtures/ledger-schemas/1.sql', 'utf8'), old!.database)
  for (const address of [old!, fresh!]) await (await postgresLedger(address)).close()
  assert.deepEqual(await shape(old!.database), await shape(fresh!.database))
})

test('agents of the first schema keep their machines when the rules of machines come', { skip }, async () => {
  const server = await sharedPostgres()
  const address = postgresAddress(await server.database(), { env: {} })
  const first = await postgresLedger(address)
  const agents = [
    agentRow('a', { status: { machine: 'bü"ld' } }),
    agentRow('b'),
    // SQL cannot read this text, so that the machine is known with the agent's next registration.
    agentRow('c', { role: 'NUL \0 \ud800', status: { machine: 'm' } }),
    agentRow('d', { role: 'tab \t', status: { machine: 'm' } }),
  ]
  const tasks = ['a', 'c', 'd'].map((agent) => row(taskIn('ASSIGNED', `t-${agent}`, { agent })))
  await put(first, { agents, tasks })
  await first.close()
  await server.sql(
    `DROP TABLE termaite.machine_rules, termaite.removed_tasks, termaite.invites, termaite.requests; DROP INDEX termaite.tasks_ended, termaite.tasks_needing;
     ALTER TABLE termaite.agents DROP COLUMN machine, DROP COLUMN paused; UPDATE termaite.ledger SET version = 1`,
    address.database,
  )
  const again = await postgresLedger(address)
  const read = await again.look(async (look) => ({
    agents: await look.agents(),
    held: await look.heldOn(['bü"ld', 'm']),
    rules: await look.machineRules(),
  }))
  assert.deepEqual(read, {
    agents,
    held: [
      { machine: 'bü"ld', count: 1 },
      { machine: 'm', count: 1 },
    ],
    rules: [],
  })
  await again.close()
})
