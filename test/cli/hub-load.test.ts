import { test } from 'node:test'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { hubLoad } from '../hub/load.ts'
import { startedHub } from './hub.ts'
import { Machine } from './program.ts'
import { sized } from '../full.ts'

const size = sized(
  { agents: 12, deaths: 0, tasks: 240, kills: 3 },
  { agents: 100, deaths: 5, tasks: 10_000, kills: 10 },
)
/** HUB_SEED is another course of the same load. */
const seed = Number(process.env.HUB_SEED ?? 7)

test(
  `${size.tasks} tasks, hang-ups, doubled words and kill -9: each is done once, by one agent at a time that really had it`,
  { timeout: sized(120_000, 900_000) },
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
