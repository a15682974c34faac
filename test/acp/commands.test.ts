import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Command } from '../../src/core/talk/command.ts'
import type { Script } from '../chat/scripted-desk.ts'
import { settled } from '../hand-clock.ts'
import { editorAt, picked, said, ScriptedEditorDesk } from './editor.ts'

async function withCommand(context: TestContext, run: Command['run'], script: Script = {}) {
  const seat = new ScriptedEditorDesk('s1', { commands: [{ name: 'do', help: 'Does it.', run }], ...script })
  const editor = await editorAt(context, { begin: async () => seat }, {}, () => picked('yes'))
  await editor.request('session/new', { cwd: '/project', mcpServers: [] })
  await editor.updates()
  return { ...editor, seat }
}

test('a command is run with its words, its output is sent, and its question is asked', async (context) => {
  const { prompt, updates, seat } = await withCommand(context, async (args, { say, ask, signal }) => {
    const options = [{ id: 'yes', label: 'Yes' }]
    const picks = await ask({ about: 'choice', text: 'Sure?', from: [], options }, signal)
    say(`${args} ${picks}`, 'text')
  })
  assert.deepEqual((await prompt('s1', '/do this  now')).result, { stopReason: 'end_turn' })
  assert.deepEqual((await updates()).at(-1), said('this  now yes'))
  assert.deepEqual(seat.desk.submitted, [])
})

test('a turn that a command begins is waited for', async (context) => {
  const { prompt, seat } = await withCommand(context, async () => {
    seat.busy = true
    seat.desk.turn('t5', { type: 'prompt', text: 'made' })
  })
  let ended = false
  const answer = prompt('s1', '/do').finally(() => (ended = true))
  await settled()
  assert.equal(ended, false)
  seat.desk.turn('t5', { type: 'end', outcome: { ok: true, text: 'made it' } })
  seat.desk.happen({ type: 'closing', closing: { turn: 't5', ms: 1 } })
  assert.deepEqual((await answer).result, { stopReason: 'end_turn' })
})

test('a command that fails says why, and one that is cancelled ends cancelled', async (context) => {
  const broken = await withCommand(context, async () => {
    throw new Error('it cannot be done')
  })
  assert.deepEqual((await broken.prompt('s1', '/do')).result, { stopReason: 'end_turn' })
  assert.deepEqual(await broken.updates(), [said('_it cannot be done_\n\n')])
  const long = await withCommand(context, (_args, { signal }) => {
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))))
  })
  const answer = long.prompt('s1', '/do')
  await settled()
  long.send({ method: 'session/cancel', params: { sessionId: 's1' } })
  assert.deepEqual((await answer).result, { stopReason: 'cancelled' })
})

test('an unknown command is reported, and a path is a prompt', async (context) => {
  const { prompt, updates } = await withCommand(context, async () => {}, {
    onSubmit: (text, desk) => desk.screen!.palette(text.slice(1)),
  })
  assert.deepEqual((await prompt('s1', '/od')).result, { stopReason: 'end_turn' })
  assert.deepEqual(await updates(), [said('There is no command /od. There are: /do')])
})

test('an editor is sent the commands again when others are there', async (context) => {
  const { updates, seat } = await withCommand(context, async () => {})
  ;(seat.desk.commands as Command[]).push({
    name: 'notes:greet',
    words: '<name>',
    help: 'Greets.',
    run: async () => {},
  })
  seat.desk.happen({ type: 'commands' })
  assert.deepEqual(await updates(), [
    {
      sessionUpdate: 'available_commands_update',
      availableCommands: [
        { name: 'do', description: 'Does it.' },
        { name: 'notes:greet', description: 'Greets.', input: { hint: '<name>' } },
      ],
    },
  ])
})
