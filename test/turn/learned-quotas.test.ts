import type { Health } from '../../src/turn/rotation/health.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { knownHealth, noHealth } from '../../src/turn/rotation/health.ts'
import { learn, learnedAs, shapeOf } from '../../src/turn/rotation/learned-quotas.ts'
import { failed } from '../../src/core/talk/outcome.ts'
import { told } from './cards.ts'
import { rig } from './rig.ts'

test('a message is recognised on another day, with other numbers', () => {
  const said = 'wrapper failed with exit code 3: allowance of 500 used, come back Tue 3 March (id 7f3a-99c1)'
  const again = 'wrapper failed with exit code 3: allowance of 1200 used, come back Fri 12 June (id 0b77-12aa)'
  assert.equal(shapeOf(said), shapeOf(again))
  const health = learn(noHealth, 'wrapper', said, 'quota')
  assert.deepEqual(
    [
      learnedAs(health, 'wrapper', again),
      learnedAs(health, 'other', again),
      learnedAs(health, 'wrapper', 'wrapper failed with exit code 3: segmentation fault'),
      learnedAs(learn(health, 'wrapper', again, 'fault'), 'wrapper', said),
      learnedAs(health, '__proto__', said),
    ],
    ['quota', undefined, undefined, 'fault', undefined],
  )
})

test('learned messages survive a restart; a record of another shape is refused', () => {
  const health = learn<Health>({ agents: { a: { failures: 1 } } }, 'a', 'gone', 'fault')
  assert.deepEqual(knownHealth(JSON.parse(JSON.stringify(health))), health)
  for (const learned of [[], 'x', { a: {} }, { a: { quota: [1], fault: [] } }])
    assert.equal(knownHealth({ agents: {}, learned }), undefined, JSON.stringify(learned))
})

test('a crash that the person called a quota parks the agent, until the time that its message names', async () => {
  const message = 'a failed with exit code 1: allowance used, try again in 2 hours'
  const { turn, health, clock } = rig({
    a: [[{ fail: { kind: 'crash', message } }]],
    b: [[{ say: 'B' }]],
  })
  await health.update((now) => learn(now, 'a', message, 'quota'))
  const { facts, result } = await turn({}, { strategy: 'exhaustion' })
  const until = clock.now() + 2 * 3_600_000
  assert.deepEqual([told(facts), result], [['a failed: quota', 'b said B'], { ok: true, text: 'B' }])
  assert.deepEqual((await health.read()).agents, { a: { failures: 0, parked: { until, why: message } } })
  const alone = rig({ a: [[{ fail: { kind: 'crash', message } }]] })
  assert.deepEqual((await alone.turn()).result, failed('crash', `no agent could answer: ${message}`))
})
