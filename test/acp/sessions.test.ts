import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Entry, Fact } from '../../src/core/talk/entry.ts'
import { settled } from '../hand-clock.ts'
import { editorAt, said, ScriptedEditorDesk } from './editor.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const entry = (fact: Fact, index: number): Entry => ({
  id: `e${index}`,
  at: index,
  by: 'a',
  session: 's1',
  turn: 't0',
  ...fact,
})

const past: Entry[] = (
  [
    { type: 'prompt', text: 'first' },
    { type: 'call', call: '1', tool: 'ls', input: {} },
    { type: 'result', call: '1', ok: true, text: 'a.ts' },
    { type: 'note', text: 'of then' },
    { type: 'reply', text: 'An answer.' },
    { type: 'end', outcome: { ok: true, text: '' } },
  ] satisfies Fact[]
).map(entry)

test('an editor is told the name and the capabilities of the agent', async (context) => {
  const { request } = await editorAt(context, {})
  const { result } = await request('initialize', { protocolVersion: 99, clientCapabilities: {} })
  assert.deepEqual(result, {
    protocolVersion: 1,
    agentInfo: { name: 'termaite', title: 'termaite', version: '1.2.3' },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, audio: false, embeddedContext: true },
      mcpCapabilities: { http: true, sse: true },
      sessionCapabilities: { list: {}, resume: {}, close: {}, additionalDirectories: {} },
    },
    authMethods: [],
  })
})

test('a new session says its modes, its options and its commands', async (context) => {
  const commands = [{ name: 'diff', words: '[turn]', help: 'What changed.', run: async () => {} }]
  const asked: unknown[] = []
  const { request, updates } = await editorAt(context, {
    begin: async (...wanted) => (asked.push(wanted), new ScriptedEditorDesk('s1', { commands })),
  })
  const server = { name: 'x', command: 'x', args: [], env: [] }
  const { result } = await request('session/new', {
    cwd: '/project',
    mcpServers: [server],
    additionalDirectories: ['/shared'],
  })
  assert.deepEqual(asked, [['/project', [server], ['/shared']]])
  assert.equal(result.sessionId, 's1')
  assert.deepEqual(result.modes, {
    currentModeId: 'chat',
    availableModes: [
      { id: 'chat', name: 'Chat', description: 'everybody' },
      { id: 'plan', name: 'Plan', description: 'only plan' },
    ],
  })
  assert.deepEqual(
    result.configOptions.map(({ id, currentValue, options }: any) => [
      id,
      currentValue,
      options.map(({ value }: any) => value),
    ]),
    [
      ['mode', 'chat', ['chat', 'plan']],
      ['leash', 'ask', ['read', 'ask', 'edit', 'all']],
      ['agent', 'auto', ['auto', 'claude', 'gemini']],
    ],
  )
  assert.deepEqual(await updates(), [
    {
      sessionUpdate: 'available_commands_update',
      availableCommands: [{ name: 'diff', description: 'What changed.', input: { hint: '[turn]' } }],
    },
  ])
})

test('a loaded session is sent from its beginning before the answer; a resumed one is not', async (context) => {
  const asked: unknown[] = []
  const { request, heard } = await editorAt(context, {
    resume: async (cwd, session) => {
      asked.push([cwd, session])
      return new ScriptedEditorDesk('s1', { entries: past, shown: 2 })
    },
  })
  const params = { cwd: '/project', sessionId: 's1', mcpServers: [] }
  heard.length = 0
  const loaded = await request('session/load', params)
  const before = heard.slice(0, heard.indexOf(loaded)).map(({ params }) => {
    const { messageId: _, ...update } = params.update
    return update
  })
  assert.deepEqual(before, [
    { sessionUpdate: 'user_message_chunk', content: { type: 'text', text: 'first' } },
    {
      sessionUpdate: 'tool_call',
      toolCallId: 't0/1',
      title: 'ls',
      kind: 'other',
      status: 'in_progress',
      rawInput: {},
    },
    {
      sessionUpdate: 'tool_call_update',
      toolCallId: 't0/1',
      status: 'completed',
      content: [{ type: 'content', content: { type: 'text', text: 'a.ts' } }],
    },
    said('An answer.'),
  ])
  heard.length = 0
  const resumed = await request('session/resume', params)
  assert.deepEqual(heard, [resumed])
  assert.deepEqual(asked, [
    ['/project', 's1'],
    ['/project', 's1'],
  ])
})

test('sessions are listed, and closed', async (context) => {
  const seat = new ScriptedEditorDesk('s1')
  const { request } = await editorAt(context, {
    begin: async () => seat,
    list: async (cwd) => [
      { session: 's0', cwd: cwd ?? '/', title: 'first words', last: 0 },
      { session: 's1', cwd: '/b', last: 1 },
    ],
  })
  assert.deepEqual((await request('session/list', { cwd: '/project' })).result, {
    sessions: [
      { sessionId: 's0', cwd: '/project', title: 'first words', updatedAt: '1970-01-01T00:00:00.000Z' },
      { sessionId: 's1', cwd: '/b', updatedAt: '1970-01-01T00:00:00.001Z' },
    ],
  })
  await request('session/new', { cwd: '/project', mcpServers: [] })
  assert.deepEqual((await request('session/close', { sessionId: 's1' })).result, {})
  assert.equal(seat.closed, true)
})

test('a session that does not exist or cannot be opened is an error in words', async (context) => {
  const { request, prompt } = await editorAt(context, {
    begin: async () => {
      throw new Error('no agent is configured yet')
    },
  })
  const params = { cwd: '/project', sessionId: 's9', mcpServers: [] }
  assert.deepEqual((await request('session/new', params)).error, {
    code: -32602,
    message: 'no agent is configured yet',
  })
  assert.deepEqual((await request('session/load', params)).error, {
    code: -32002,
    message: 'there is no session s9 in the project of /project',
  })
  golden(context, (await prompt('s9', 'hi')).error)
})

test('the mode, the leash and the agent can be set, and changes made elsewhere are sent', async (context) => {
  const seat = new ScriptedEditorDesk('s1', {
    onSubmit: (text, desk) => {
      desk.turn('t1', { type: 'prompt', text }, { type: 'end', outcome: { ok: true, text: '' } })
      desk.happen({ type: 'closing', closing: { turn: 't1', ms: 1 } })
    },
  })
  const { request, prompt, updates } = await editorAt(context, { begin: async () => seat })
  await request('session/new', { cwd: '/project', mcpServers: [] })
  await settled()
  const set = (configId: string, value: string) =>
    request('session/set_config_option', { sessionId: 's1', configId, value })
  const values = ({ result }: any) => result.configOptions.map(({ currentValue }: any) => currentValue)
  assert.deepEqual(values(await set('leash', 'edit')), ['chat', 'edit', 'auto'])
  assert.deepEqual(values(await set('agent', 'gemini')), ['chat', 'edit', 'gemini'])
  assert.deepEqual((await request('session/set_mode', { sessionId: 's1', modeId: 'plan' })).result, {})
  await prompt('s1', 'go')
  assert.deepEqual(seat.nextAgents, ['gemini'])
  await updates()
  await seat.setMode('chat')
  const [mode, options] = (await updates()) as any[]
  assert.deepEqual(mode, { sessionUpdate: 'current_mode_update', currentModeId: 'chat' })
  assert.equal(options.sessionUpdate, 'config_option_update')
  assert.equal((await set('leash', 'loose')).error.message, 'there is no option "leash" with the value "loose"')
  assert.equal(
    (await request('session/set_mode', { sessionId: 's1', modeId: 'fly' })).error.message,
    'there is no mode "fly"; there are: chat, plan',
  )
  seat.refuses = 'nobody here can plan'
  assert.equal(
    (await request('session/set_mode', { sessionId: 's1', modeId: 'plan' })).error.message,
    'nobody here can plan',
  )
})

test('an editor that hangs up leaves no session open', async (context) => {
  const seat = new ScriptedEditorDesk('s1', { onSubmit: (text, desk) => desk.turn('t1', { type: 'prompt', text }) })
  const { request, prompt, input, over } = await editorAt(context, { begin: async () => seat })
  await request('session/new', { cwd: '/project', mcpServers: [] })
  void prompt('s1', 'go')
  await settled()
  input.end()
  await over
  assert.equal(seat.closed, true)
})

test('a loaded session shows words that were cut off, and not those of agents that were only consulted', async (context) => {
  const entries = (
    [
      { type: 'prompt', text: 'first' },
      { type: 'words', text: 'bad idea', from: ['critic'] },
      { type: 'words', text: 'Half an', cut: 'person' },
      { type: 'end', outcome: { ok: false, failure: { kind: 'aborted', message: 'cancelled' } } },
    ] satisfies Fact[]
  ).map(entry)
  const { request, heard } = await editorAt(context, {
    resume: async () => new ScriptedEditorDesk('s1', { entries, shown: 4 }),
  })
  heard.length = 0
  const loaded = await request('session/load', { cwd: '/project', sessionId: 's1', mcpServers: [] })
  const before = heard.slice(0, heard.indexOf(loaded)).map(({ params }) => params.update.content.text)
  assert.deepEqual(before, ['first', 'Half an\n\n_(cut off by you)_\n\n'])
})
