import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../../cases.ts'
import type { Entry, Fact } from '../../../src/core/talk/entry.ts'
import { modelMessages } from '../../../src/native/loop/model-messages.ts'
import { turnOf } from '../../contract/agent.ts'
import { answeredTurn, entryMaker } from '../../core/made.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

test("the agent's own text is the assistant’s, that of other agents is marked as theirs", (t) => {
  const make = entryMaker()
  const failure = { kind: 'crash' as const, message: 'died' }
  const history: Entry[] = [
    make('', 'termaite', { type: 'summary', text: 'long ago', through: 'x' }),
    make('1', 'user', { type: 'prompt', text: 'one', files: [{ sha: 'f', media: 'image/png', bytes: 1 }] }),
    make('1', 'claude', { type: 'call', call: 'x', tool: 'Bash', input: 'ls' }),
    make('1', 'claude', { type: 'result', call: 'x', ok: true, text: 'a b' }),
    make('1', 'native', { type: 'call', call: 'n', tool: 'bash', input: 'ls', step: 1, opaque: 's' }),
    make('1', 'native', { type: 'result', call: 'n', ok: false, text: 'no' }),
    make('1', 'native', { type: 'attempt', failure, ms: 1 }),
    make('1', 'native', { type: 'reply', text: 'again', step: 1 }),
    make('1', 'native', { type: 'usage', input: 1, output: 1, source: 'reported' }),
    make('1', 'native', { type: 'end', outcome: { ok: true, text: 'again' } }),
    ...answeredTurn(make, '2', 'two', 'claude', 'deux'),
  ]
  golden(t, modelMessages('native', turnOf({ prompt: 'three', history }), []))
})

test('text typed to agents that failed before comes after the prompt', (t) => {
  const attempts = [
    { type: 'attempt' as const, by: 'claude', failure: { kind: 'quota' as const, message: 'limit' }, ms: 1 },
  ]
  golden(t, modelMessages('native', turnOf({ prompt: 'paint', attempts, steered: ['in blue'] }), []))
})

test('property: a request is a byte-exact prefix of the next, within a turn and over turns', () => {
  const step = fc.record({ text: fc.string(), calls: fc.nat(3), typed: fc.boolean() })
  fc.assert(
    fc.property(fc.array(fc.array(step, { maxLength: 4 }), { maxLength: 4 }), (turns) => {
      const make = entryMaker()
      const history: Entry[] = []
      let before: string[] = []
      turns.forEach((steps, at) => {
        const id = `t${at}`
        const done: Fact[] = []
        const check = () => {
          const now = modelMessages('native', turnOf({ id, prompt: id, history }), done).map((one) =>
            JSON.stringify(one),
          )
          assert.deepEqual(now.slice(0, before.length), before)
          before = now
        }
        check()
        steps.forEach(({ text, calls, typed }, index) => {
          const number = index + 1
          if (text) done.push({ type: 'reply', text, step: number })
          for (let i = 0; i < calls; i++) {
            const call = `${id}.${number}.${i}`
            done.push({ type: 'call', call, tool: 'look', input: { i }, step: number })
            done.push({ type: 'result', call, ok: true, text: 'seen' })
          }
          if (typed) done.push({ type: 'prompt', text: 'typed' })
          check()
        })
        history.push(make(id, 'user', { type: 'prompt', text: id }))
        for (const fact of done) history.push(make(id, fact.type === 'prompt' ? 'user' : 'native', fact))
        history.push(make(id, 'native', { type: 'end', outcome: { ok: true, text: '' } }))
      })
    }),
  )
})

test('a loaded skill is a message of its own, before and after it was summarised, for the agent that loaded it', () => {
  const make = entryMaker()
  const guide = { type: 'guide' as const, name: 'skill:pdf', text: '<skill name="pdf">\nRead.\n</skill>' }
  const loaded = make('1', 'native', guide)
  const guides = [{ ...guide, by: 'native' }]
  const summary = make('', 'termaite', { type: 'summary', text: 'long ago', through: 'x', guides })
  const told = (history: Entry[], self: string) =>
    modelMessages(self, turnOf({ prompt: 'go', history }), []).map(({ text }) => text)
  assert.deepEqual(told([loaded], 'native'), [guide.text, 'go'])
  assert.deepEqual(told([loaded], 'other'), ['go'])
  assert.deepEqual(told([summary], 'native'), ['<summary>\nlong ago\n</summary>', guide.text, 'go'])
  assert.deepEqual(told([summary], 'other'), ['<summary>\nlong ago\n</summary>', 'go'])
})
