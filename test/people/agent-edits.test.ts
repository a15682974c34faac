import type { WrittenAgent } from '../../src/settings/agent-settings.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jsonFormat } from '../../src/native/mcp-config/json-format.ts'
import { withAdded, withEnabled, withMoved, withoutAgent } from '../../src/people/offers/agent-edits.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const text = `{
  // How turns pass from one to the next.
  "rotationStrategy": "exhaustion",
  "agents": [
    // Knows the whole project.
    { "name": "alpha", "command": "a", "contextWindowTokens": 1000 }, // the first
    {
      "name": "beta", // a friend
      "command": "b",
      "contextWindowTokens": 1000,
      "enabled": false
    },
    /* cheap */ { "name": "gamma", "command": "c", "contextWindowTokens": 1000 } // the last
  ],
  "leash": "ask" // for now
}
`

const file = (text: string) => ({ text, agents: jsonFormat.find(text, ['agents']) as WrittenAgent[] })
const order = (text: string) => file(text).agents.map(({ name }) => name)
const comments = (text: string) => text.match(/\/\/.*|\/\*.*?\*\//g)!.sort()

test('an agent is switched on and off, and every comment stays', (t) => {
  const off = withEnabled(file(text), 'alpha', false)
  golden(t, off)
  assert.equal(file(off).agents[0]!.enabled, false)
  assert.deepEqual(comments(off), comments(text))
  const on = withEnabled(file(text), 'beta', true)
  golden(t, on)
  assert.deepEqual(comments(on), comments(text))
  assert.throws(() => withEnabled(file(text), 'nobody', true), /nobody/)
})

test('an agent is moved with the comments above and beside it', (t) => {
  const moved = withMoved(file(text), 'alpha', 1)
  golden(t, moved)
  assert.deepEqual([order(moved), comments(moved)], [['beta', 'alpha', 'gamma'], comments(text)])
  const last = withMoved(file(text), 'gamma', -1)
  golden(t, last)
  assert.deepEqual([order(last), comments(last)], [['alpha', 'gamma', 'beta'], comments(text)])
  assert.equal(withMoved(file(last), 'gamma', 1), text)
  assert.equal(withMoved(file(text), 'gamma', 1), text)
  assert.equal(withMoved(file(text), 'alpha', -1), text)
})

test('an agent in a list of one line is moved, added and removed', () => {
  const flat = '{"agents": [{"name": "a", "command": "x"}, {"name": "b", "command": "y"},]}'
  assert.deepEqual(order(withMoved(file(flat), 'b', -1)), ['b', 'a'])
  const more = withAdded(file(flat), { name: 'c', command: 'z', contextWindowTokens: 1 })
  assert.deepEqual(order(more), ['a', 'b', 'c'])
  assert.deepEqual(order(withoutAgent(file(more), 'b')), ['a', 'c'])
})
