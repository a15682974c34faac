import type { Asked, Answer } from '../real/model-server.ts'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as acp from '@agentclientprotocol/sdk'
import { modelServer } from '../real/model-server.ts'
import { editorOn } from './acp-editor.ts'
import { Machine } from './program.ts'
import { until } from '../until.ts'
import { png } from '../picture-bodies.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 60_000 }
const spent = "cat >/dev/null; echo 'error: usage limit reached' >&2; exit 1"

test(
  'an editor talks to the rotation: a handover, the story kept, and the session loaded by another',
  options,
  async (t) => {
    const machine = new Machine(t)
    machine.agents({ spent, good: 'cat >/dev/null; echo "Hello from good."' })
    const first = editorOn(t, machine.start(['acp']), ({ options }) => ({
      outcome: { outcome: 'selected', optionId: options[0]!.optionId },
    }))
    await first.initialize()
    const { sessionId } = await first.begin(machine.project)
    assert.deepEqual(await first.prompt(sessionId, 'hello'), { stopReason: 'end_turn' })
    assert.deepEqual(
      [first.thoughts(), first.text()],
      ['spent failed: error: usage limit reached\n\n', 'Hello from good.\n'],
    )
    assert.deepEqual(
      first.seen.asked.map(({ options }) => options.map(({ kind }) => kind)),
      [['allow_once', 'reject_once', 'allow_once']],
    )
    assert.deepEqual(await first.close(), { code: 0, faults: [] })
    assert.deepEqual(
      machine.history().flatMap(({ type, by }) => (type === 'note' ? [] : [`${by} ${type}`])),
      [
        'user prompt',
        'spent attempt',
        'termaite question',
        'user answer',
        'good reply',
        'good usage',
        'good verdict',
        'rotation end',
      ],
    )

    const second = editorOn(t, machine.start(['acp']))
    await second.initialize()
    const { sessions } = await second.agent.request(acp.methods.agent.session.list, { cwd: machine.project })
    assert.deepEqual(
      sessions.map(({ sessionId, cwd, title }) => ({ sessionId, cwd, title })),
      [{ sessionId, cwd: machine.project, title: 'hello' }],
    )
    await second.agent.request(acp.methods.agent.session.load, { sessionId, cwd: machine.project, mcpServers: [] })
    assert.deepEqual(
      second.seen.updates.flatMap((update) => ('content' in update ? [update.sessionUpdate] : [])),
      ['user_message_chunk', 'agent_message_chunk'],
    )
    assert.equal(second.text(), 'Hello from good.')
    assert.deepEqual(await second.close(), { code: 0, faults: [] })
  },
)

async function nativeOn(t: TestContext, script: (asked: Asked) => Answer) {
  const server = await modelServer(script)
  t.after(() => server.close())
  const machine = new Machine(t)
  const model = { model: 'anthropic/claude-sonnet-4-5', baseURL: `${server.url}/v1` }
  machine.settings({ agents: [{ name: 'native', kind: 'native', ...model, contextWindowTokens: 200_000 }] })
  return { machine, start: () => machine.start(['acp'], { env: { ANTHROPIC_API_KEY: 'made-up-key' } }) }
}

test('our own agent asks the editor for leave, and shows its changes', options, async (t) => {
  let step = 0
  const { machine, start } = await nativeOn(t, ({ text }) => {
    const edits = [{ old_string: 'one', new_string: 'two' }]
    // A label that comes too late is cut off, so that it may not have reached the model.
    if (text.includes('Which thinking framework')) return { text: 'DIRECT' }
    step++
    if (step === 1) return { call: { tool: 'file_reader', input: { file_path: 'a.txt' } } }
    if (step === 2) return { call: { tool: 'file_editor', input: { file_path: 'a.txt', edits } } }
    if (step === 3) return { call: { tool: 'bash', input: { command: 'git push' } } }
    return { text: 'It says two now.' }
  })
  const file = join(machine.project, 'a.txt')
  writeFileSync(file, 'one\n')
  const editor = editorOn(t, start(), ({ options }) => ({
    outcome: { outcome: 'selected', optionId: options.find(({ kind }) => kind === 'reject_once')!.optionId },
  }))
  await editor.initialize()
  const { sessionId, modes } = await editor.begin(machine.project)
  assert.deepEqual(
    modes?.availableModes.map(({ id }) => id),
    ['chat', 'agent', 'plan', 'coordinator'],
  )
  const leash = { sessionId, configId: 'leash', value: 'edit' }
  await editor.agent.request(acp.methods.agent.session.setConfigOption, leash)
  assert.deepEqual(await editor.prompt(sessionId, 'change it'), { stopReason: 'end_turn' })
  assert.equal(readFileSync(file, 'utf8'), 'two\n')
  const diffs = editor.seen.updates.flatMap((update) =>
    update.sessionUpdate === 'tool_call_update' ? (update.content ?? []).filter(({ type }) => type === 'diff') : [],
  )
  assert.deepEqual(diffs, [{ type: 'diff', path: file, oldText: 'one\n', newText: 'two\n' }])
  const [asked] = editor.seen.asked
  const call = editor.seen.updates.find(
    (update) => update.sessionUpdate === 'tool_call' && update.toolCallId === asked!.toolCall.toolCallId,
  )
  assert.deepEqual(call?.sessionUpdate === 'tool_call' && [call.kind, call.rawInput], [
    'execute',
    { command: 'git push' },
  ])
  assert.match(editor.thoughts(), /^thinking: native (?:chose direct|did not name a framework in time)/m)
  assert.equal(editor.text(), 'It says two now.')
  assert.deepEqual(await editor.close(), { code: 0, faults: [] })
})

test('a cancel ends the turn and its processes, and the session goes on', options, async (t) => {
  const machine = new Machine(t)
  const started = join(machine.project, 'started')
  machine.agents({
    slow: `cat >/dev/null; if [ -f again ]; then echo done; exit; fi; touch ${started}; exec sleep 1000`,
  })
  const editor = editorOn(t, machine.start(['acp']))
  await editor.initialize()
  const { sessionId } = await editor.begin(machine.project)
  const turn = editor.prompt(sessionId, 'hang')
  await until(() => existsSync(started))
  await editor.agent.notify(acp.methods.agent.session.cancel, { sessionId })
  assert.deepEqual(await turn, { stopReason: 'cancelled' })
  writeFileSync(join(machine.project, 'again'), '')
  assert.deepEqual(await editor.prompt(sessionId, 'again'), { stopReason: 'end_turn' })
  assert.deepEqual(await editor.close(), { code: 0, faults: [] })
})

test('every prompt that cannot be is an error with its kind; stdout is the editor’s alone', options, async (t) => {
  const machine = new Machine(t)
  const nobody = editorOn(t, machine.start(['acp']))
  await nobody.initialize()
  await golden.rejects(t, nobody.begin(machine.project))
  assert.deepEqual(await nobody.close(), { code: 0, faults: [] })
  machine.agents({ broken: 'cat >/dev/null; exit 3' })
  const editor = editorOn(t, machine.start(['acp']))
  await editor.initialize()
  await assert.rejects(editor.begin(join(machine.project, 'nowhere')), { code: -32602 })
  const { sessionId } = await editor.begin(machine.project)
  await assert.rejects(editor.prompt(sessionId, 'hi'), (error: { code: number; data: unknown }) => {
    assert.deepEqual([error.code, error.data], [-32603, { kind: 'crash' }])
    return true
  })
  assert.deepEqual(await editor.close(), { code: 0, faults: [] })
})

test('a picture of an editor reaches the model, and a damaged one is refused in words', options, async (t) => {
  const machine = new Machine(t)
  const server = await modelServer(() => ({ text: 'A box.' }))
  t.after(() => server.close())
  const agent = { name: 'native', kind: 'native', model: 'anthropic/claude-sonnet-4-5', baseURL: `${server.url}/v1` }
  machine.settings({ metaInstruction: false, thinking: 'off', agents: [{ ...agent, contextWindowTokens: 200_000 }] })
  const editor = editorOn(t, machine.start(['acp'], { env: { ANTHROPIC_API_KEY: 'made-up' } }))
  assert.equal((await editor.initialize()).agentCapabilities?.promptCapabilities?.image, true)
  const { sessionId } = await editor.begin(machine.project)
  const block = (bytes: Buffer) => ({
    type: 'image' as const,
    mimeType: 'image/png',
    data: bytes.toString('base64'),
  })
  const prompt = [{ type: 'text' as const, text: 'see ' }, block(png(3, 2)), block(png(3, 2).subarray(0, -4))]
  await editor.agent.request(acp.methods.agent.session.prompt, { sessionId, prompt })
  golden(t, server.turns()[0]!.body.messages[0].content)
  golden(t, editor.text())
  assert.deepEqual(await editor.close(), { code: 0, faults: [] })
})
