import { test } from 'node:test'
import type { TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { skipWithoutPostgres, TestPostgres } from '../postgres.ts'
import { Fleet } from './fleet.ts'
import { hubLoad } from './load.ts'
import { noFaults } from './witness.ts'
import { sized } from '../full.ts'

/** HUB_SEED is another course of the same load. */
const seed = Number(process.env.HUB_SEED ?? 7)

/** A bad network: connections that are refused, slow, cut in the middle or silent, and requests that arrive after they were given up. */
const network = { refused: 0.01, delayed: 0.02, delayMs: 50, late: true, cut: 0.002, silenced: 0.0005, silentMs: 3_000 }

type Size = { agents: number; deaths: number; relapses: number; tasks: number; hubKills: number }

const timeout = sized(120_000, 1_800_000)

const one = sized<Size>(
  { agents: 12, deaths: 0, relapses: 2, tasks: 120, hubKills: 3 },
  { agents: 100, deaths: 5, relapses: 10, tasks: 10_000, hubKills: 10 },
)

test(
  `one hub: ${one.tasks} tasks, a bad network, ${one.hubKills} times kill -9: each task is done once, by one agent at a time that really had it`,
  { timeout },
  async (t) => {
    const fleet = await Fleet.start(t, { hubs: 1, network, seed })
    await proven(
      t,
      fleet,
      one,
      times(one.hubKills, () => fleet.restart(0)),
    )
  },
)

const several = sized<Size & { postgresKills: number }>(
  { agents: 18, deaths: 0, relapses: 3, tasks: 150, hubKills: 2, postgresKills: 1 },
  { agents: 200, deaths: 10, relapses: 20, tasks: 10_000, hubKills: 20, postgresKills: 5 },
)

test(
  `three hubs on PostgreSQL: ${several.tasks} tasks, a bad network, kill -9 of hubs (${several.hubKills}) and of the database (${several.postgresKills}): each task is done once`,
  { timeout, skip: skipWithoutPostgres },
  (t) => provenOnPostgres(t, several),
)

const many = sized<Size & { postgresKills: number }>(
  { agents: 60, deaths: 0, relapses: 4, tasks: 100, hubKills: 1, postgresKills: 0 },
  { agents: 1_000, deaths: 20, relapses: 50, tasks: 10_000, hubKills: 20, postgresKills: 5 },
)

test(
  `three hubs on PostgreSQL, where ${many.agents} agents wait: the same`,
  { timeout, skip: skipWithoutPostgres },
  (t) => provenOnPostgres(t, many),
)

async function provenOnPostgres(t: TestContext, size: Size & { postgresKills: number }): Promise<void> {
  const hubs = 3
  const postgres = await TestPostgres.start({ durable: true })
  t.after(() => postgres.end())
  const fleet = await Fleet.start(t, { hubs, ledger: await postgres.database(), network, seed })
  const { hubKills, postgresKills } = size
  const kills = times(hubKills, (number) => fleet.restart(number))
  // The kills of the database lie between those of the hubs, with the same distance.
  for (const [number, kill] of times(postgresKills, () => restarted(postgres)).entries())
    kills.splice(Math.floor(((number + 0.5) * (hubKills + postgresKills)) / postgresKills), 0, kill)
  await proven(t, fleet, size, kills)
}

async function restarted(postgres: TestPostgres): Promise<void> {
  await postgres.kill()
  await postgres.run()
}

async function proven(t: TestContext, fleet: Fleet, size: Size, upsets: (() => Promise<void>)[]): Promise<void> {
  const began = performance.now()
  const { proxy, desk, key } = fleet
  const load = {
    ...size,
    url: proxy.url,
    desk,
    key,
    upsets,
    followers: 4,
    patience: size.agents,
    seed,
  }
  const { ended, faults, ...counts } = await hubLoad(load)
  t.diagnostic(JSON.stringify({ ...counts, ...proxy.counts, seconds: (performance.now() - began) / 1000 }))
  assert.deepEqual([ended, faults], [size.tasks, noFaults])
}

const times = <T>(count: number, make: (number: number) => T) =>
  Array.from({ length: count }, (_, number) => () => make(number))
