import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { ModelScript, ScriptedModel } from './scripted-model.ts'
import { scriptedModel } from './scripted-model.ts'
import { modelContract } from '../contract/model.ts'

const made: ScriptedModel[] = []
const model = (...scripts: ModelScript[]) => {
  const one = scriptedModel(scripts)
  made.push(one)
  return one
}

modelContract('a scripted model', {
  says: (text) => model([{ say: text }]),
  calls: (tool, input) => model([{ type: 'call', id: 'c1', tool, input }]),
  fails: (failure) => model([{ type: 'failure', failure }]),
  hangs: (text) => model([{ say: text }, { hang: true }]),
  running: () => made.reduce((sum, one) => sum + one.running, 0),
})

test('one script a request, the last one again, and each request is kept as it was', async () => {
  const one = model([{ say: 'first' }], (request) => [{ say: `${request.messages.length} messages` }])
  const request = { frame: { system: '', tools: [] }, messages: [{ role: 'user' as const, text: 'a' }] }
  const texts = []
  for (let i = 0; i < 3; i++) {
    for await (const event of one.stream(request, new AbortController().signal))
      if (event.type === 'text') texts.push(event.delta)
    request.messages.push({ role: 'user', text: 'b' })
  }
  assert.deepEqual(texts, ['first', '2 messages', '3 messages'])
  assert.deepEqual(
    one.requests.map(({ messages }) => messages.length),
    [1, 2, 3],
  )
})
