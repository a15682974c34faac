import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Tool } from '../../src/core/work/tool.ts'
import { nativeAgent } from '../../src/agents/native/native-loop.ts'
import { frameOf } from '../../src/agents/native/model-messages.ts'
import { leashPolicy } from '../leash-policy.ts'
import { scriptedModel } from '../../src/models/scripted-model.ts'
import { all } from '../all-items.ts'
import { toolContract } from '../contract/tool.ts'
import { here, project } from './world.ts'

const noteTool = (notes: string[]): Tool<{ text: string }> => ({
  name: 'write_note',
  description: 'Writes one note down.',
  schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  risk: 'write',
  parse(input) {
    const { text } = (input ?? {}) as { text?: unknown }
    if (typeof text !== 'string') throw new Error('text must be a string')
    return { text }
  },
  async run({ text }, { progress }) {
    progress('writing')
    notes.push(text)
    return `note ${notes.length} is written`
  },
})

toolContract('the note tool', {
  make: () => ({ tool: noteTool([]), cwd: '/project' }),
  good: { text: 'x' },
  bad: [undefined, {}, { text: 1 }],
})

test('a call is kept before it runs; one that a crash left open is closed, and the next turn is told so', async () => {
  const { open, kept } = project({ alive: (owner) => owner === 'alive' })
  const notes: string[] = []
  const tools = [noteTool(notes) as Tool]
  const model = scriptedModel([
    [{ say: 'I write it down.' }, { type: 'call', id: 'c2', tool: 'write_note', input: { text: 'tests pass' } }],
    [{ say: 'Written.' }],
  ])
  const native = nativeAgent({ name: 'native', model, tools, policy: leashPolicy, frame: frameOf('Be brief.', tools) })

  const crashed = open('dead')
  const turn = 'turn-of-the-dead'
  await crashed.append({ type: 'prompt', text: 'note that we began', owner: 'dead' }, 'user', turn)
  const input = { text: 'we began' }
  await crashed.append({ type: 'call', call: 'c1', tool: 'write_note', input, step: 1 }, 'native', turn)

  const conversation = open('alive')
  await conversation.settle()
  const shown = await all(conversation.converse(native, 'note that tests pass', here()))

  const interrupted =
    'interrupted: this call may have run, wholly or in part. Check what it changed before you make it again'
  const gone = { kind: 'aborted', message: 'termaite stopped during this turn' }
  const call = { call: 'c2', tool: 'write_note', input: { text: 'tests pass' }, step: 1 }
  assert.deepEqual(await kept(), [
    { type: 'prompt', by: 'user', text: 'note that we began', owner: 'dead' },
    { type: 'call', by: 'native', call: 'c1', tool: 'write_note', input, step: 1 },
    { type: 'result', by: 'termaite', call: 'c1', ok: false, text: interrupted },
    { type: 'end', by: 'termaite', outcome: { ok: false, failure: gone } },
    { type: 'prompt', by: 'user', text: 'note that tests pass', owner: 'alive' },
    { type: 'reply', by: 'native', text: 'I write it down.', step: 1 },
    { type: 'call', by: 'native', ...call },
    { type: 'result', by: 'native', call: 'c2', ok: true, text: 'note 1 is written' },
    { type: 'reply', by: 'native', text: 'Written.', step: 2 },
    { type: 'end', by: 'native', outcome: { ok: true, text: '' } },
  ])
  assert.ok(shown.some((event) => event.type === 'progress' && event.delta === 'writing'))
  assert.deepEqual(notes, ['tests pass'])

  const [first, second] = model.requests.map(({ messages }) => messages)
  assert.deepEqual(first, [
    { role: 'user', text: 'note that we began' },
    { role: 'assistant', text: '', calls: [{ id: 'c1', tool: 'write_note', input }] },
    { role: 'tool', call: 'c1', tool: 'write_note', ok: false, text: interrupted },
    { role: 'user', text: `<note>\nThis turn ended without an answer: ${gone.message}\n</note>` },
    { role: 'user', text: 'note that tests pass' },
  ])
  assert.deepEqual(second!.slice(0, first.length), first, 'each request is a prefix of the next')
  assert.deepEqual(second!.slice(first.length), [
    {
      role: 'assistant',
      text: 'I write it down.',
      calls: [{ id: 'c2', tool: 'write_note', input: { text: 'tests pass' } }],
    },
    { role: 'tool', call: 'c2', tool: 'write_note', ok: true, text: 'note 1 is written' },
  ])
})
