import { test } from 'node:test'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { hubLoad } from '../hub/load.ts'
import { startedHub } from './hub.ts'
import { Machine } from './program.ts'

// HUB_LOAD=full node --test test/cli/hub-load.test.ts is the whole promise, HUB_SEED another course of it.
const full = process.env.HUB_LOAD === 'full'
const size = full
  ? { agents: 100, deaths: 5, tasks: 10_000, kills: 10 }
  : { agents: 12, deaths: 0, tasks: 240, kills: 3 }
const seed = Number(process.env.HUB_SEED ?? 7)

test(
  `${size.tasks} tasks, hang-ups, doubled words and kill -9: each is done once, by one agent at a time that really had it`,
  { timeout: full ? 900_000 : 120_000 },
  async (t) => {
    const machine = new Machine(t)
    let { child, url, key } = await startedHub(t, machine)
    const began = performance.now()
    const { ended, faults, ...counts } = await hubLoad({
      ...size,
      url,
      key,
      seed,
      async restart() {
        child.kill('SIGKILL')
        await once(child, 'exit')
        ;({ child } = await startedHub(t, machine, new URL(url).port))
      },
    })
    t.diagnostic(JSON.stringify({ ...counts, seconds: (performance.now() - began) / 1000 }))
    const none = { doubled: [], lost: [], unfinished: [], shared: [], astray: [], blamed: [], untold: [] }
    assert.deepEqual([ended, faults], [size.tasks, none])
  },
)
