import type { Step } from '../../src/core/profile/profile.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { leashes } from '../../src/core/work/agent.ts'
import { pi } from '../../src/profiles/pi/pi.ts'
import { goldenOf } from '../golden.ts'
import { kindOf, meanings, now, recorded, replay } from './replay.ts'

const golden = goldenOf(import.meta.filename)

test('the last words of pi in text mode say what went wrong, and those of an answer do not', () => {
  const spent = '429: {"message":"You exceeded your current quota","code":"insufficient_quota"}\n'
  assert.equal(kindOf(pi, { err: spent }), 'quota')
  assert.equal(kindOf(pi, { out: spent }), undefined)
  assert.equal(kindOf(pi, { err: 'Error: Unknown option: --nosuch\n' }), undefined)
})

test('each leash is held by the tools it gets, and handed-in values are quoted', () => {
  const looking = 'pi --mode rpc --tools read,grep,find,ls'
  assert.deepEqual(
    leashes.map((leash) => pi.command({ leash })),
    [looking, looking, looking, 'pi --mode rpc'],
  )
  assert.equal(pi.command({ leash: 'all', resume: 'a b', model: 'x/y' }), "pi --mode rpc --model x/y --session 'a b'")
})

test('a command of a person’s own that prints events and takes no commands is understood as well', () => {
  const runs = Object.entries(recorded('pi-one-way')).map(([name, run]) => [name, replay(pi, run)])
  assert.deepEqual(Object.fromEntries(runs), meanings('pi-one-way'))
})

test('an error that a retry rode over is no failure, and its half answer is no part of the answer', () => {
  const say = (message: object) => JSON.stringify({ type: 'message_end', message: { role: 'assistant', ...message } })
  const out = [
    say({ content: [{ type: 'text', text: 'Half an' }], stopReason: 'error', errorMessage: '529: Overloaded' }),
    say({ content: [{ type: 'text', text: 'Here.' }], stopReason: 'stop' }),
  ].join('\n')
  assert.deepEqual(replay(pi, { args: '', ended: { out, err: '', code: 0, now } }), [
    { type: 'end', outcome: { ok: true, text: 'Here.' } },
  ])
})

const answer = (id: string, command: string, more: object = {}) => ({
  ...{ type: 'response', id, command, success: true },
  ...more,
})
const state = (id: string, isStreaming: boolean, pendingMessageCount = 0) =>
  answer(id, 'get_state', { data: { sessionId: 's', isStreaming, pendingMessageCount } })
const accepted = (id: string) => answer(id, 'prompt')
const began = { type: 'agent_start' }
const settled = { type: 'agent_settled' }

/** Whether a turn is over after each of these lines; a text is typed meanwhile. */
function turnOf(...all: (object | string)[]) {
  const dialect = pi.dialect!()
  dialect.open('Do it.')
  return all.map((one) => {
    if (typeof one === 'string') dialect.steer!(one, one)
    else dialect.line(JSON.stringify(one))
    return dialect.over!()
  })
}

test('a turn is over when pi has settled and has taken up everything that was sent to it', () => {
  const turns = {
    plain: [state('state', false), accepted('prompt'), began, state('prompt', true), settled],
    quick: [state('state', false), accepted('prompt'), began, settled, state('prompt', false)],
    retried: [accepted('prompt'), began, state('prompt', false), began, settled],
    takenByAnExtension: [state('state', false), accepted('prompt'), state('prompt', false)],
    steered: [
      accepted('prompt'),
      began,
      state('prompt', true),
      'typed',
      accepted('typed'),
      state('typed', true, 1),
      settled,
    ],
    typedTooLate: [
      ...[accepted('prompt'), began, state('prompt', true), 'typed', settled],
      ...[accepted('typed'), began, state('typed', true), settled],
    ],
    refused: [state('state', false), answer('prompt', 'prompt', { success: false, error: 'no key' })],
  }
  const found = Object.entries(turns).map(([name, lines]) => [
    name,
    turnOf(...lines)
      .map(Number)
      .join(''),
  ])
  assert.deepEqual(Object.fromEntries(found), {
    plain: '00001',
    quick: '00001',
    retried: '00001',
    takenByAnExtension: '001',
    steered: '0000001',
    typedTooLate: '000000001',
    refused: '01',
  })
})

test('the next turn in the process begins where nothing is over, and asks for the thread again', () => {
  const first = pi.dialect!()
  first.line(JSON.stringify(settled))
  const next = first.next!('s', { leash: 'all' })
  assert.deepEqual(
    [first.over!(), next.over!(), next.open('Go on.'), next.line(JSON.stringify(state('state', false)))],
    [true, false, first.open('Go on.'), [{ type: 'thread', key: 's' }]],
  )
})

test('a dialog of an extension is a question, and what it would draw is left out', (t) => {
  const asked = (request: object) => {
    const dialect = pi.dialect!()
    return dialect.line(JSON.stringify({ type: 'extension_ui_request', id: 'd', ...request })).map(answers)
  }
  const answers = (step: Step) =>
    step.type === 'ask'
      ? { ...step, reply: [undefined, ['Allow'], ['yes'], ['no']].map((picks) => step.reply(picks)) }
      : step
  golden(t, {
    select: asked({ method: 'select', title: 'Allow it?', options: ['Allow', 'Block'] }),
    confirm: asked({ method: 'confirm', title: 'Clear?', message: 'All is lost.' }),
    input: asked({ method: 'input', title: 'A value', placeholder: 'type' }),
    editor: asked({ method: 'editor', title: 'A text', prefill: 'a' }),
    notify: asked({ method: 'notify', message: 'It was blocked.' }),
    drawn: ['setStatus', 'setWidget', 'setTitle', 'set_editor_text', 'toString'].map((method) => asked({ method })),
  })
})

test('pi gets a stop only once it has a session to keep', () => {
  const dialect = pi.dialect!()
  const before = dialect.stop!()
  dialect.line(JSON.stringify(state('state', false)))
  assert.deepEqual([before, dialect.stop!()], [undefined, '{"type":"clear_queue"}\n{"type":"abort"}\n'])
})
