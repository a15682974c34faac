import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Entry } from '../../../src/core/talk/entry.ts'
import { sessionFrame } from '../../../src/native/loop/session-frame.ts'
import { memoryStore } from '../../../src/store/memory-store.ts'
import { turnOf } from '../../contract/agent.ts'

test('a frame is frozen when its session begins, and is the same ever after; another mode has another', async () => {
  const blobs = memoryStore().blobs('output')
  let made = 0
  const spec = (key: string) => ({
    key,
    make: async () => ({ frame: { system: `made ${++made}`, tools: [] }, told: [] }),
  })
  const history: Entry[] = []
  const ask = async (key: string) => {
    const events = sessionFrame('native', turnOf({ history: [...history] }), blobs, spec(key))
    for (;;) {
      const next = await events.next()
      if (next.done) return next.value.frame.system
      const { by: _by, ...fact } = next.value
      history.push({ ...fact, id: String(history.length), at: 1, by: 'native', session: 's', turn: 't' } as Entry)
    }
  }
  assert.deepEqual(
    [await ask('agent'), await ask('agent'), await ask('plan'), await ask('plan')],
    ['made 1', 'made 1', 'made 2', 'made 2'],
  )
  await blobs.clear()
  assert.equal(await ask('plan'), 'made 3', 'one that is lost is made anew')
})
