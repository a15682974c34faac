import type { Event } from '../../src/core/talk/entry.ts'
import type { Answer } from '../real/model-server.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { realClock } from '../../src/base/time/clock.ts'
import { Conversation } from '../../src/core/work/conversation.ts'
import { nativeAgent } from '../../src/native/loop/native-loop.ts'
import { frameOf } from '../../src/native/loop/model-messages.ts'
import { openModel } from '../../src/models/open/open-model.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { modelServer } from '../real/model-server.ts'
import { hastyClock } from './hasty-clock.ts'

const wires: Record<string, { model: string; base: string }> = {
  anthropic: { model: 'anthropic/claude-sonnet-4-5', base: '/v1' },
  responses: { model: 'openai/gpt-5', base: '/v1' },
  chat: { model: 'groq/openai/gpt-oss-120b', base: '/v1' },
  gemini: { model: 'google/gemini-3-pro', base: '/v1beta' },
}

const ls = {
  name: 'ls',
  description: 'Lists a folder.',
  schema: { type: 'object' },
  risk: 'read' as const,
  parse(input: unknown) {
    if (typeof input !== 'object' || input === null) throw new Error('it is no object.')
    return input
  },
  run: async () => 'a.txt',
}

/** The answers of the model, one for each request, and the kept entries of the turn: by type, with words where there are any. */
const cases: Record<string, { answers: Answer[]; kept: string[] }> = {
  'a call, and an answer': {
    answers: [{ call: { tool: 'ls', input: {} } }, { text: 'One file.' }],
    kept: ['call ls', 'result ok: a.txt', 'reply: One file.', 'end: ok'],
  },
  'a tool that is none': {
    answers: [{ call: { tool: 'list', input: {} } }, { text: 'Sorry.' }],
    kept: ['call list', 'result failed: There is no tool list. Use one of: ls.', 'reply: Sorry.', 'end: ok'],
  },
  'an input that does not fit': {
    answers: [{ call: { tool: 'ls', input: 'here' } }, { text: 'Sorry.' }],
    kept: [
      'call ls',
      'result failed: ls could not read its input: it is no object. Call it again as it is described here.\n\nls: Lists a folder.\nInput: {"type":"object"}',
      'reply: Sorry.',
      'end: ok',
    ],
  },
  'an error that passes': { answers: [{ error: 'server' }, { text: 'Here.' }], kept: ['reply: Here.', 'end: ok'] },
  'a rush that does not': { answers: [{ error: 'overloaded' }], kept: ['end: busy'] },
  'an error of the server': { answers: [{ error: 'server' }], kept: ['end: busy'] },
  'an answer that is cut off': {
    answers: [{ drop: 'Half of ' }, { text: 'an answer.' }],
    kept: ['reply: Half of an answer.', 'end: ok'],
  },
  'too long a conversation': { answers: [{ error: 'overflow' }], kept: ['end: overflow'] },
  'a key that is refused': { answers: [{ error: 'key' }], kept: ['end: auth'] },
  'a model that declines': {
    answers: [{ refusal: 'I would rather not.' }],
    kept: ['reply: I would rather not.', 'end: ok, refused'],
  },
}

for (const [what, { answers, kept }] of Object.entries(cases))
  test(`${what} is the same over every wire`, async (t) => {
    for (const [wire, { model, base }] of Object.entries(wires)) {
      const server = await modelServer(({ count }) => answers[Math.min(count, answers.length) - 1]!)
      t.after(() => server.close())
      assert.deepEqual([wire, await taken(`${server.url}${base}`, model)], [wire, kept])
    }
  })

async function taken(baseURL: string, model: string): Promise<string[]> {
  const store = memoryStore()
  const blobs = store.blobs('output')
  const clock = hastyClock()
  const agent = nativeAgent({
    name: 'native',
    model: openModel({ model, baseURL }, { key: () => 'made-up', blobs, clock: realClock }),
    tools: [ls],
    policy: async () => ({ verdict: 'yes', why: 'it is a test' }),
    frame: frameOf('Be brief.', [ls]),
  })
  const conversation = new Conversation({
    log: store.log('history'),
    blobs,
    session: 's',
    clock,
    owner: 'test',
    alive: () => true,
  })
  const world = { cwd: '/', leash: 'all' as const, signal: new AbortController().signal }
  for await (const _event of conversation.converse(agent, 'What is here?', world));
  return (await conversation.read()).entries.flatMap(words)
}

function words(event: Event): string[] {
  if (event.type === 'call') return [`call ${event.tool}`]
  if (event.type === 'result') return [`result ${event.ok ? 'ok' : 'failed'}: ${event.text}`]
  if (event.type === 'reply') return [`reply: ${event.text}`]
  if (event.type !== 'end') return []
  const { outcome } = event
  return [`end: ${outcome.ok ? `ok${outcome.refused ? ', refused' : ''}` : outcome.failure.kind}`]
}
