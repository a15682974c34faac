import type { HubLedger, TaskRow } from '../src/hub/model/hub-ledger.ts'
import type { Task, TaskState } from '../src/hub/model/tasks/task.ts'
import type { Row } from './measure.ts'
import type { Worked } from './hub.ts'
import { join } from 'node:path'
import { emptyWrites } from '../src/hub/model/hub-ledger.ts'
import { postgresAddress } from '../src/hub/ledgers/postgres/address.ts'
import { postgresLedger } from '../src/hub/ledgers/postgres/postgres-ledger.ts'
import { fileHubLedger } from '../src/hub/ledgers/sqlite/hub-ledger.ts'
import { TestPostgres, skipWithoutPostgres } from '../test/postgres.ts'
import { BenchHub, load, worked } from './hub.ts'
import { at, ms } from './measure.ts'
import { installQueues, queues } from './peers/queues.ts'

/** The hub on SQLite beside one, two and four hubs on PostgreSQL, and beside other queues on the same server. */
export async function fleet(): Promise<Row[]> {
  if (skipWithoutPostgres !== false) {
    console.log(`fleet: skipped, ${skipWithoutPostgres}`)
    return []
  }
  const postgres = await TestPostgres.start({ durable: true })
  try {
    const sqlite = await measured([undefined])
    const rows: Row[] = []
    for (const hubs of [1, 2, 4]) {
      const address = await postgres.database()
      const shared = await measured(Array.from({ length: hubs }, () => address))
      rows.push(...compared(sqlite, shared, hubs))
    }
    return [...rows, ...(await peers(postgres, sqlite)), ...(await histories(postgres))]
  } finally {
    await postgres.end()
  }
}

/** Starts a hub for each address of a ledger; undefined is SQLite. */
async function measured(ledgers: readonly (string | undefined)[]): Promise<Worked> {
  const hubs: BenchHub[] = []
  try {
    for (const ledger of ledgers) hubs.push(await BenchHub.start({ ledger, key: hubs[0]?.key }))
    return await worked(hubs)
  } finally {
    for (const hub of hubs) await hub[Symbol.asyncDispose]()
  }
}

/** The rows of hubs on PostgreSQL; two of them are held to a bar. */
function compared(sqlite: Worked, shared: Worked, hubs: number): Row[] {
  const bar = hubs === 2 ? { bar: 2 } : {}
  const name = `${hubs} ${hubs === 1 ? 'hub' : 'hubs'} on PostgreSQL`
  return [
    {
      what: `fleet: tasks of the hub on SQLite for one of ${name}`,
      value: sqlite.rate / shared.rate,
      unit: 'ratio',
      ...bar,
      detail: `${load.tasks} tasks through ${load.agents} agents over HTTP: ${shared.rate.toFixed(0)} tasks/s, SQLite ${sqlite.rate.toFixed(0)}`,
    },
    {
      what: `fleet: wake of an agent at ${name} for one on SQLite, median`,
      value: at(shared.handed, 0.5) / at(sqlite.handed, 0.5),
      unit: 'ratio',
      ...bar,
      detail: `${wakes(shared)}, SQLite ${wakes(sqlite)}`,
    },
  ]
}

const wakes = ({ handed }: Worked) => `p50 ${ms(at(handed, 0.5))}, p99 ${ms(at(handed, 0.99))}`

/** The other queues: their handlers are in this process and they speak no HTTP, so that their numbers are those of the database. */
async function peers(postgres: TestPostgres, sqlite: Worked): Promise<Row[]> {
  const why = installQueues()
  if (why !== undefined) {
    console.log(`fleet: other queues skipped, ${why}`)
    return []
  }
  const rows: Row[] = []
  for (const [name, open] of Object.entries(queues)) {
    const waiting = new Map<number, () => void>()
    let left = load.tasks
    const all = Promise.withResolvers<void>()
    const had = (number: number) => {
      waiting.get(number)?.()
      if (--left === 0) all.resolve()
    }
    const queue = await open(await postgres.database(), load.agents, had)
    const began = performance.now()
    const givers = Array.from({ length: 20 }, async (_, giver) => {
      for (let number = giver; number < load.tasks; number += 20) await queue.add(number)
    })
    await Promise.all([...givers, all.promise])
    const rate = load.tasks / ((performance.now() - began) / 1000)
    const handed: number[] = []
    for (let probe = load.tasks; probe < load.tasks + load.probes; probe++) {
      const arrived = new Promise<void>((resolve) => waiting.set(probe, resolve))
      const sent = performance.now()
      await Promise.all([queue.add(probe), arrived])
      handed.push(performance.now() - sent)
    }
    await queue.close()
    rows.push({
      what: `fleet: jobs of ${name} for one task of the hub on SQLite`,
      value: rate / sqlite.rate,
      unit: 'ratio',
      detail: `${rate.toFixed(0)} jobs/s in one process, without HTTP; wake ${wakes({ rate, handed })}`,
    })
  }
  return rows
}

const finished = 100_000

/** A hub over a ledger with a hundred thousand finished tasks, beside one over an empty ledger. */
async function histories(postgres: TestPostgres): Promise<Row[]> {
  const rows: Row[] = []
  for (const name of ['SQLite', 'PostgreSQL']) {
    const ledger = name === 'SQLite' ? undefined : await postgres.database()
    await using first = await BenchHub.start({ ledger })
    await first.end()
    const empty = await looked(first, ledger)
    await fill(first.home, ledger)
    const full = await looked(first, ledger)
    const ratio = (what: string, pick: (seen: Looked) => number, unit: string): Row => ({
      what: `fleet: ${what} with ${finished} finished tasks on ${name} for one with none`,
      value: pick(full) / pick(empty),
      unit: 'ratio',
      bar: 1.5,
      detail: `${pick(full).toFixed(0)} ${unit}, empty ${pick(empty).toFixed(0)} ${unit}`,
    })
    rows.push(
      ratio('start', ({ startMs }) => startMs, 'ms'),
      ratio('memory', ({ memory }) => memory, 'MB'),
      {
        what: `fleet: the newest 50 of ${finished} finished tasks on ${name}`,
        value: full.listMs,
        unit: 'ms',
        detail: `${(full.listBytes / 1000).toFixed(0)} kB`,
      },
    )
  }
  return rows
}

type Looked = { startMs: number; memory: number; listMs: number; listBytes: number }

/** Starts the hub of a home three times and takes the medians. */
async function looked({ home }: BenchHub, ledger: string | undefined): Promise<Looked> {
  const all: Looked[] = []
  for (let time = 0; time < 3; time++) {
    const hub = await BenchHub.start({ home, ledger })
    const began = performance.now()
    const headers = { authorization: `Bearer ${hub.key}` }
    const listed = await (await fetch(`${hub.client.url}/api/tasks?limit=50`, { headers })).text()
    const listMs = performance.now() - began
    all.push({ startMs: hub.startMs, memory: hub.memory, listMs, listBytes: listed.length })
    await hub.end()
  }
  const middle = (pick: keyof Looked) =>
    at(
      all.map((one) => one[pick]),
      0.5,
    )
  return {
    startMs: middle('startMs'),
    memory: middle('memory'),
    listMs: middle('listMs'),
    listBytes: middle('listBytes'),
  }
}

/** Writes finished tasks into the ledger of a hub that does not run. */
async function fill(home: string, address: string | undefined): Promise<void> {
  const ledger: HubLedger =
    address === undefined
      ? fileHubLedger(join(home, 'hub.db'))
      : await postgresLedger(postgresAddress(address, { env: {} }))
  try {
    for (let from = 0; from < finished; from += 1_000)
      await ledger.round(async (round) => {
        const tasks = Array.from({ length: 1_000 }, (_, number) => finishedRow(from + number, round.now))
        await round.write({ ...emptyWrites, tasks })
      })
  } finally {
    await ledger.close()
  }
}

/** A task with an answer of 200 letters, as the hub keeps it. */
function finishedRow(number: number, now: number): TaskRow {
  const created = now - (finished - number) * 1_000
  const step = (state: TaskState, by: string) => ({ at: created, state, by })
  const message = 'done '.repeat(40)
  const task: Task = {
    id: `finished-${String(number).padStart(8, '0')}`,
    prompt: 'Fix the failing test of the parser and say what was wrong.',
    by: 'user',
    workspace: 'w',
    priority: 0,
    capabilities: [],
    needs: [],
    state: 'COMPLETED',
    created,
    moved: created,
    returns: 0,
    notes: [],
    history: [step('QUEUED', 'user'), step('PENDING_ACK', 'hub'), step('ASSIGNED', 'a'), step('COMPLETED', 'a')],
    tries: [{ number: 1, agent: 'a', began: created, ended: created, end: 'COMPLETED', result: { message } }],
    agent: 'a',
    heard: created,
    result: { message },
  }
  return { task, touched: created, ready: false }
}
