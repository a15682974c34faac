import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Event } from '../../src/core/talk/entry.ts'
import type { Outcome } from '../../src/core/talk/outcome.ts'
import type { ScriptedDesk } from '../chat/scripted-desk.ts'
import { unfinished } from '../../src/core/talk/outcome.ts'
import { settled } from '../hand-clock.ts'
import { editorAt, said, ScriptedEditorDesk } from './editor.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** A desk whose every turn goes like this. */
const telling =
  (...events: Event[]) =>
  (text: string, desk: ScriptedDesk) => {
    desk.turn('t1', { type: 'prompt', text }, ...events)
    desk.happen({ type: 'closing', closing: { turn: 't1', ms: 1 } })
  }

const end = (outcome: Outcome): Event => ({ type: 'end', outcome })
const good = end({ ok: true, text: '' })

async function turnOf(context: Parameters<typeof editorAt>[0], events: Event[], capabilities = {}) {
  const seat = new ScriptedEditorDesk('s1', { onSubmit: telling(...events) })
  const editor = await editorAt(context, { begin: async () => seat }, capabilities)
  await editor.request('session/new', { cwd: '/project', mcpServers: [] })
  await editor.updates()
  const answer = await editor.prompt('s1', 'go')
  const [named, ...updates] = await editor.updates()
  assert.deepEqual(named, { sessionUpdate: 'session_info_update', title: 'go' })
  return { seat, answer, updates }
}

test('text is sent as it streams, and not again as a whole', async (context) => {
  const { seat, answer, updates } = await turnOf(context, [
    { type: 'thought', delta: 'hm' },
    { type: 'text', delta: 'Hello' },
    { type: 'text', delta: ' you' },
    { type: 'reply', text: 'Hello you.' },
    good,
  ])
  assert.deepEqual(seat.desk.submitted, ['go'])
  assert.deepEqual(answer.result, { stopReason: 'end_turn' })
  assert.deepEqual(updates, [
    { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'hm' } },
    said('Hello'),
    said(' you'),
    said('.'),
  ])
})

test('a reply that was not streamed, and an answer that is only in the outcome, are sent', async (context) => {
  const { updates } = await turnOf(context, [{ type: 'reply', text: 'whole' }, end({ ok: true, text: 'whole' })])
  assert.deepEqual(updates, [said('whole')])
  const other = await turnOf(context, [end({ ok: true, text: 'only here' })])
  assert.deepEqual(other.updates, [said('only here')])
})

test('a call is sent with its file, its output, its changes and its end', async (context) => {
  const input = { file_path: 'src/a.ts', edits: [] }
  const { updates } = await turnOf(context, [
    { type: 'call', call: '1', tool: 'file_editor', input },
    { type: 'progress', call: '1', delta: 'half' },
    { type: 'progress', call: '1', delta: ' way' },
    { type: 'result', call: '1', ok: true, text: 'done', data: [{ path: 'src/a.ts', before: 'a', after: 'b' }] },
    { type: 'call', call: '2', tool: 'bash', input: { command: 'false' } },
    { type: 'result', call: '2', ok: false, text: 'exit 1' },
    good,
  ])
  const text = (words: string) => ({ type: 'content', content: { type: 'text', text: words } })
  assert.deepEqual(updates, [
    {
      sessionUpdate: 'tool_call',
      toolCallId: 't1/1',
      title: 'edits src/a.ts',
      kind: 'edit',
      status: 'in_progress',
      rawInput: input,
      locations: [{ path: '/project/src/a.ts' }],
    },
    { sessionUpdate: 'tool_call_update', toolCallId: 't1/1', content: [text('half')] },
    {
      sessionUpdate: 'tool_call_update',
      toolCallId: 't1/1',
      status: 'completed',
      content: [{ type: 'diff', path: '/project/src/a.ts', oldText: 'a', newText: 'b' }, text('done')],
    },
    {
      sessionUpdate: 'tool_call',
      toolCallId: 't1/2',
      title: 'bash: false',
      kind: 'execute',
      status: 'in_progress',
      rawInput: { command: 'false' },
    },
    { sessionUpdate: 'tool_call_update', toolCallId: 't1/2', status: 'failed', content: [text('exit 1')] },
  ])
})

test('a plan, a failed attempt and a note are sent beside the answer, as notices where the editor shows them', async (context) => {
  const events: Event[] = [
    { type: 'plan', items: [{ task: 'look', status: 'in_progress' }] },
    { type: 'attempt', by: 'gemini', ms: 1, failure: { kind: 'quota', message: 'spent until noon' } },
    { type: 'note', text: 'first\nsecond' },
    { type: 'text', delta: 'ok' },
    good,
  ]
  const plan = { sessionUpdate: 'plan', entries: [{ content: 'look', status: 'in_progress', priority: 'medium' }] }
  const aside = (text: string) => ({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text } })
  const { updates } = await turnOf(context, events)
  assert.deepEqual(updates, [
    plan,
    aside('gemini failed: spent until noon\n\n'),
    aside('first\nsecond\n\n'),
    said('ok'),
  ])
  const apart = await turnOf(context, events, { session: { notices: {} } })
  assert.deepEqual(apart.updates, [
    plan,
    { sessionUpdate: 'notice', severity: 'warning', title: 'gemini failed: spent until noon' },
    { sessionUpdate: 'notice', severity: 'info', title: 'first', description: 'second' },
    said('ok'),
  ])
})

test('the phases of a framework are sent as thoughts, and its advisors are not', async (context) => {
  const { updates } = await turnOf(context, [
    { type: 'phase', framework: 'consensus', words: '3 of 5 advisors', by: 'termaite' },
    { type: 'inner', role: 'enumerator', event: { type: 'reply', text: 'pandoc', by: 'gemini' } },
    { type: 'verdict', framework: 'consensus', why: 'more than one way', calls: 6, ms: 5, by: 'claude' },
    { type: 'reply', text: 'Done.' },
    good,
  ])
  const thought = { type: 'text', text: 'consensus: 3 of 5 advisors\n\n' }
  assert.deepEqual(updates, [{ sessionUpdate: 'agent_thought_chunk', content: thought }, said('Done.')])
})

test('the outcome of a turn decides how its prompt ends', async (context) => {
  const refused = await turnOf(context, [end({ ok: true, text: 'no', refused: true })])
  assert.deepEqual(refused.answer.result, { stopReason: 'refusal' })
  const aborted = await turnOf(context, [end({ ok: false, failure: { kind: 'aborted', message: 'cancelled' } })])
  assert.deepEqual(aborted.answer.result, { stopReason: 'cancelled' })
  const spent = await turnOf(context, [
    end({ ok: false, failure: { kind: 'quota', message: 'all are parked', retryAt: 5 } }),
  ])
  assert.deepEqual(spent.answer.error, { code: -32603, message: 'all are parked', data: { kind: 'quota', retryAt: 5 } })
  const auth = await turnOf(context, [end({ ok: false, failure: { kind: 'auth', message: 'log in: x login' } })])
  assert.deepEqual(auth.answer.error, { code: -32000, message: 'log in: x login', data: { kind: 'auth' } })
})

test('a prompt that could not be sent fails with the reason', async (context) => {
  const seat = new ScriptedEditorDesk('s1', {
    onSubmit: (text, desk) => {
      desk.happen({ type: 'said', how: 'error', text: 'the disk is full' })
      setImmediate(() => desk.screen!.fill(text))
    },
  })
  const { request, prompt } = await editorAt(context, { begin: async () => seat })
  await request('session/new', { cwd: '/project', mcpServers: [] })
  await settled()
  assert.deepEqual((await prompt('s1', 'go')).error, { code: -32603, message: 'the disk is full' })
})

test('a cancel reaches the desk, and the prompt ends cancelled whatever the turn says', async (context) => {
  const seat = new ScriptedEditorDesk('s1', { onSubmit: (text, desk) => desk.turn('t1', { type: 'prompt', text }) })
  seat.desk.busy = true
  const { request, prompt, send } = await editorAt(context, { begin: async () => seat })
  await request('session/new', { cwd: '/project', mcpServers: [] })
  const answer = prompt('s1', 'go')
  await settled()
  const second = await prompt('s1', 'and this')
  golden(context, second.error.message)
  send({ method: 'session/cancel', params: { sessionId: 's1' } })
  await settled()
  assert.equal(seat.desk.cancels, 1)
  seat.desk.turn('t1', end({ ok: false, failure: { kind: 'crash', message: 'it broke' } }))
  seat.desk.happen({ type: 'closing', closing: { turn: 't1', ms: 1 } })
  assert.deepEqual((await answer).result, { stopReason: 'cancelled' })
})

test('a turn of another process is shown with its prompt', async (context) => {
  const seat = new ScriptedEditorDesk('s1')
  const { request, updates } = await editorAt(context, { begin: async () => seat })
  await request('session/new', { cwd: '/project', mcpServers: [] })
  await updates()
  seat.desk.turn('t9', { type: 'prompt', text: 'from elsewhere' }, { type: 'text', delta: 'yes' }, good)
  assert.deepEqual(await updates(), [
    { sessionUpdate: 'user_message_chunk', content: { type: 'text', text: 'from elsewhere' } },
    said('yes'),
  ])
})

test('a prompt that steers a turn of another process is over with it; one that waits behind it is not', async (context) => {
  const seat = new ScriptedEditorDesk('s1')
  const { request, prompt } = await editorAt(context, { begin: async () => seat })
  await request('session/new', { cwd: '/project', mcpServers: [] })
  await settled()
  const { desk } = seat
  const over = (turn: string) => desk.happen({ type: 'closing', closing: { turn, ms: 1 } })
  const steering = prompt('s1', 'and that')
  await settled()
  over('t8')
  assert.deepEqual((await steering).result, { stopReason: 'end_turn' })
  let ended = false
  const waiting = prompt('s1', 'then this').finally(() => (ended = true))
  await settled()
  desk.happen({ type: 'queue', texts: ['then this'] })
  over('t9')
  await settled()
  assert.equal(ended, false)
  desk.happen({ type: 'queue', texts: [] })
  desk.turn('t10', { type: 'prompt', text: 'then this' }, good)
  over('t10')
  assert.deepEqual((await waiting).result, { stopReason: 'end_turn' })
})

test('an unfinished turn has a stop reason of the protocol, and a notice in words', async (context) => {
  for (const [by, stopReason] of [
    ['steps', 'max_turn_requests'],
    ['cost', 'max_turn_requests'],
    ['tokens', 'max_tokens'],
    ['output', 'max_tokens'],
  ] as const) {
    const { answer, updates } = await turnOf(context, [
      end({ ok: false, failure: unfinished(by, 'the limit is reached') }),
    ])
    assert.deepEqual(answer.result, { stopReason })
    const text = updates.flatMap((update) =>
      update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text' ? [update.content.text] : [],
    )
    golden(context, text)
  }
})

test('a patch is an edit of all its files, and a report is a notice', async (context) => {
  const input = { input: '*** Begin Patch\n*** Add File: a.ts\n+1\n*** Delete File: b.ts\n*** End Patch' }
  const { updates } = await turnOf(context, [
    { type: 'call', call: '1', tool: 'apply_patch', input },
    { type: 'result', call: '1', ok: true, text: 'done' },
    { type: 'notification', status: 'progress', text: 'Half of it is done.', by: 'native' },
    good,
  ])
  assert.deepEqual(updates[0], {
    sessionUpdate: 'tool_call',
    toolCallId: 't1/1',
    title: 'edits a.ts, b.ts',
    kind: 'edit',
    status: 'in_progress',
    rawInput: input,
    locations: [{ path: '/project/a.ts' }, { path: '/project/b.ts' }],
  })
  assert.match(JSON.stringify(updates.slice(2)), /native reports: Half of it is done\./)
})
