import type { Task } from '../../src/hub/model/tasks/task.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { finishedStates } from '../../src/hub/model/hub-ledger.ts'
import { until } from '../until.ts'
import { startedHub } from './hub.ts'
import { Machine } from './program.ts'

const example = join(import.meta.dirname, '..', '..', 'docs', 'examples', 'hub-agent.mjs')

test('the agent of the documentation does tasks, and leaves when it is removed', { timeout: 60_000 }, async (t) => {
  const { url, hub } = await startedHub(t, new Machine(t))
  const { secret } = await hub.operators.addKey('example', 'agent')
  const env = { TERMAITE_HUB: url, TERMAITE_HUB_KEY: secret }
  const child = spawn(process.execPath, [example, 'example', '/shop'], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  t.after(() => child.kill('SIGKILL'))
  const said: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => said.push(String(data)))
  const left = once(child, 'exit')
  const added: Task[] = []
  for (const prompt of ['one', 'two']) added.push(await hub.add({ prompt, workspace: '/shop' }))
  const tasks = () => Promise.all(added.map(({ id }) => hub.task(id)))
  await until(async () => (await tasks()).every(({ state }) => finishedStates.includes(state)))
  assert.deepEqual(
    (await tasks()).map(({ state, agent, result }) => [state, agent, result]),
    [
      ['COMPLETED', 'example', { message: 'done: one' }],
      ['COMPLETED', 'example', { message: 'done: two' }],
    ],
  )
  const removed = await fetch(`${url}/api/agents/example/evict`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await hub.operators.addKey('anna', 'member').then((made) => made.secret)}` },
  })
  assert.equal(removed.status, 200)
  assert.deepEqual(await left, [0, null])
  assert.deepEqual(said.join('').split('\n'), [
    `200 ${added[0]!.id} COMPLETED`,
    `200 ${added[1]!.id} COMPLETED`,
    'removed by a person',
    '',
  ])
})
