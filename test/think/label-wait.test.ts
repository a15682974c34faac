import type { Framework } from '../../src/core/talk/framework.ts'
import type { Script } from '../agents/scripted-agent.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { settled } from '../hand-clock.ts'
import { LabelPause } from '../../src/think/label-pause.ts'
import { think } from '../../src/think/think.ts'
import { hangs, says, thinkingRig } from './rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** Requests of people, each with the thought that it deserves. */
const requests: readonly [request: string, deserves: Framework][] = [
  ['hi', 'direct'],
  ['thanks, that works', 'direct'],
  ['run the tests', 'direct'],
  ['what does this function do?', 'direct'],
  ['fix the typo in the README', 'direct'],
  ['rename getUser to loadUser', 'direct'],
  ['show me the last commit', 'direct'],
  ['add a comment above the loop', 'direct'],
  ['explain line 40 of server.ts', 'direct'],
  ['make the button blue', 'direct'],
  ['write a test for parseDate', 'direct'],
  ['move this file to src/lib', 'direct'],
  ['was macht diese Datei?', 'direct'],
  ['update the changelog', 'direct'],
  ['which port does the server use?', 'direct'],
  ['sort the imports', 'direct'],
  ['how should we store sessions?', 'consensus'],
  ['should we use Redis or Postgres for the queue?', 'consensus'],
  ['what is the best way to cache this?', 'consensus'],
  ['Convert docx to pdf', 'consensus'],
  ['how would you structure the plugin system?', 'consensus'],
  ['pick a state library for this app', 'consensus'],
  ['the login fails with a 500 since yesterday, why?', 'sequential'],
  ['TypeError: x is undefined in cart.js, find out why', 'sequential'],
  ['the tests are flaky, find the cause', 'sequential'],
  ['memory grows until the worker dies', 'sequential'],
  ['it is slow on Mondays', 'sequential'],
  ['the build works here but not in CI', 'sequential'],
  ['why does the page flicker?', 'sequential'],
  ['build a web shop with accounts, a cart and payments', 'decompose'],
  ['write a compiler for this language', 'decompose'],
  ['rewrite the whole backend in Go', 'decompose'],
  ['add multi-tenancy to the product', 'decompose'],
  ['migrate the production database without losing a row', 'reflect'],
  ['change how we hash passwords', 'reflect'],
  ['delete all inactive users', 'reflect'],
  ['rotate the signing keys', 'reflect'],
  ['how many lines of code are in each language?', 'script'],
  ['which customers bought twice, by the CSV files?', 'script'],
  ['find duplicate photos in this folder', 'script'],
]

/** How the agent that names frameworks answers: there is none, it is too slow, it is always wrong, or it is right at once. */
const labellers = {
  none: undefined,
  slow: () => hangs,
  wrong: (deserves) => says(deserves === 'script' ? 'REFLECT' : 'SCRIPT'),
  right: (deserves) => says(deserves.toUpperCase()),
} satisfies Record<string, ((deserves: Framework) => Script) | undefined>

/** Sends the requests one after another to one chat; the actor is fast, so that all time that passes is added by thinking. */
async function answered(labeller: ((deserves: Framework) => Script) | undefined) {
  let deserved: Framework = 'direct'
  const rig = thinkingRig({
    actor: [says('done')],
    agents: { own: [(turn) => playedOf(labeller?.(deserved), turn)] },
  })
  const taken: Framework[] = []
  const agent = think(rig.resources.actor, {
    how: 'auto',
    machine: async () => '',
    openLabeller: async () => (labeller ? rig.resources.openReader('own', []) : undefined),
    labelPause: new LabelPause(),
    resources: async () => rig.resources,
    load: async (framework) => {
      taken.push(framework)
      throw new Error('only the choice counts here')
    },
    agreed: true,
    freeCalls: 2,
    agree: async () => {},
  })
  const rows: { request: string; took: Framework; right: boolean; delay: number }[] = []
  for (const [request, deserves] of requests) {
    deserved = deserves
    const [began, loaded] = [rig.clock.elapsed(), taken.length]
    const turn = rig.run(agent, { prompt: request })
    await settled()
    if (rig.running().length > 0) await rig.clock.turn(80)
    await turn
    const took = taken[loaded] ?? 'direct'
    rows.push({ request, took, right: took === deserves, delay: rig.clock.elapsed() - began })
    // A person reads and types.
    await rig.clock.turn(20_000)
  }
  return rows
}

const playedOf = (script: Script | undefined, turn: Parameters<Extract<Script, (turn: never) => unknown>>[0]) =>
  typeof script === 'function' ? script(turn) : (script ?? [])

test('forty requests: the delay that thinking adds, the thought that is taken, and whether that is right', async (t) => {
  assert.equal(requests.length, 40)
  for (const [name, labeller] of Object.entries(labellers)) {
    const rows = await answered(labeller)
    const total = {
      delays: rows.map(({ delay }) => delay).filter((delay) => delay > 0),
      right: rows.filter(({ right }) => right).length,
    }
    assert.ok(
      rows.every(({ delay }) => delay <= 80),
      name,
    )
    golden(t, [
      name,
      total,
      ...rows.map(({ request, took, right, delay }) =>
        [took, right ? 'right' : 'wrong', `+${delay} ms`, request].join(' · '),
      ),
    ])
  }
})
