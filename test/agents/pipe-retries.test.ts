import { test } from 'node:test'
import assert from 'node:assert/strict'
import { eventsOf, turnOf } from '../contract/agent.ts'
import { failureIn, piped, profileOf, running } from './pipe-rig.ts'

const limit = { timeout: 20_000 }

test(
  'a CLI that was refused and would retry for minutes is ended, with its own words as the failure',
  limit,
  async () => {
    const profile = profileOf({
      command: () => `echo 'refused, trying ag' >&2; sleep 0.02; echo 'refused for good' >&2; sleep 77`,
      retrying: (line) => (line === 'refused for good' ? { kind: 'busy', message: line, retryAt: 7 } : undefined),
    })
    assert.deepEqual(failureIn(await eventsOf(piped({ profile }), turnOf())), {
      kind: 'busy',
      message: 'refused for good',
      retryAt: 7,
    })
    assert.deepEqual(await running(), [])
  },
)

test('words of an answer about a retry end nothing', limit, async () => {
  const profile = profileOf({
    command: () => `echo 'refused for good'`,
    retrying: (line) => ({ kind: 'busy', message: line }),
  })
  const events = await eventsOf(piped({ profile }), turnOf())
  assert.deepEqual(events.at(-1), { type: 'end', outcome: { ok: true, text: 'refused for good' } })
})
