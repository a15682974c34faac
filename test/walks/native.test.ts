import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Tool } from '../../src/core/work/tool.ts'
import { nativeAgent } from '../../src/native/loop/native-loop.ts'
import { frameOf } from '../../src/native/loop/model-messages.ts'
import { leashPolicy } from '../leash-policy.ts'
import { scriptedModel } from '../models/scripted-model.ts'
import { all } from '../all-items.ts'
import { toolContract } from '../contract/tool.ts'
import { here, project } from './world.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

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

test('a call is kept before it runs; one that a crash left open is closed, and the next turn is told so', async (t) => {
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

  golden(t, await kept())
  assert.ok(shown.some((event) => event.type === 'progress' && event.delta === 'writing'))
  assert.deepEqual(notes, ['tests pass'])

  const [first, second] = model.requests.map(({ messages }) => messages)
  golden(t, first)
  assert.deepEqual(second!.slice(0, first!.length), first, 'each request is a prefix of the next')
  assert.deepEqual(second!.slice(first!.length), [
    {
      role: 'assistant',
      text: 'I write it down.',
      calls: [{ id: 'c2', tool: 'write_note', input: { text: 'tests pass' } }],
    },
    { role: 'tool', call: 'c2', tool: 'write_note', ok: true, text: 'note 1 is written' },
  ])
})
