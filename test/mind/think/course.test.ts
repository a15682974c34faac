import { test } from 'node:test'
import assert from 'node:assert/strict'
import { thinker } from '../../../src/mind/think/thinker.ts'
import { dies, minds, says } from './rig.ts'

test('whoever dies while being asked is replaced, and the answer says who really gave it', async () => {
  const rig = minds({ agents: { claude: [dies()], gemini: [says('because')] }, actor: [says('done')] })
  const heard: unknown[] = []
  const agent = thinker('consensus', rig.minds, async function* (course) {
    heard.push(yield* course.ask({ role: 'critic', agent: 'claude' }, 'why?'))
    return yield* course.act('do it')
  })
  const { facts, result } = await rig.run(agent)
  assert.deepEqual(heard, [{ outcome: { ok: true, text: 'because' }, by: 'gemini' }])
  assert.deepEqual(facts, [
    { type: 'reply', text: 'done', by: 'actor' },
    { type: 'verdict', framework: 'consensus', why: '', calls: 1, ms: 0, by: 'actor' },
  ])
  assert.deepEqual(result, { ok: true, text: 'done' })
  assert.deepEqual([rig.names(), rig.running(), rig.clock.asleep], [['claude', 'gemini'], [], 0])
})
