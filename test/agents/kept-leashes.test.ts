import type { Leash } from '../../src/core/work/agent.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { ending, keptChat, protocols } from './kept-rig.ts'

/** A walk over the leashes that goes from each one to each other one. */
const walk: readonly Leash[] = [
  ...(['read', 'ask', 'edit', 'all', 'read', 'edit', 'ask'] as const),
  ...(['all', 'edit', 'read', 'all', 'ask', 'read', 'read'] as const),
]

test('the walk goes from each leash to each other one', () => {
  const steps = new Set(walk.slice(1).map((to, at) => `${walk[at]} ${to}`))
  assert.equal(steps.size, 13)
})

for (const protocol of protocols)
  test(`${protocol}: each turn runs in a process that has its leash, and in the same one where nothing changed`, async () => {
    await using chat = keptChat(protocol)
    const turns: { pid: number; leash: string | undefined }[] = []
    for (const leash of walk) {
      const end = ending(await chat.take('Go on.', { leash }))
      assert.ok(typeof end !== 'string')
      turns.push({ pid: end.pid, leash: end.said.split(' ')[2] })
    }
    // Over ACP the mode of the session holds the leash, and is set before each prompt; the others hold it by how they were started.
    const processes = protocol === 'acp' ? 1 : walk.length - 1
    assert.deepEqual([turns.map(({ leash }) => leash), new Set(turns.map(({ pid }) => pid)).size], [walk, processes])
  })

for (const protocol of protocols)
  test(`${protocol}: a turn that plans never runs in a process that builds, nor the other way round`, async () => {
    await using chat = keptChat(protocol)
    const turns: { pid: number; plans: boolean }[] = []
    for (const plans of [false, true, true, false, false, true]) {
      const end = ending(await chat.take('Go on.', { leash: 'read', plans }))
      assert.ok(typeof end !== 'string')
      turns.push({ pid: end.pid, plans })
    }
    const begun = turns.map(({ pid }, at) => pid !== turns[at - 1]?.pid)
    assert.deepEqual(begun, [true, true, false, true, false, true])
  })
