import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { ModelMessage, ModelRequest } from '../../src/core/work/model.ts'
import { eventsOf, hello, sse, still, tap, tapped } from './tap.ts'

const chatSays = (...words: string[]) => ({
  chunks: [
    sse(...words.map((content) => ({ choices: [{ delta: { content } }] })), {
      choices: [{ delta: {}, finish_reason: 'stop' }],
    }),
  ],
})
const anthropicSays = (text: string) => ({
  chunks: [
    sse(
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
      { type: 'message_stop' },
    ),
  ],
})

const begun = (...texts: string[]): ModelRequest => ({ ...hello, begun: texts })

async function rest(model: string, request: ModelRequest, reply: ReturnType<typeof chatSays>) {
  const one = tap([reply])
  const events = await eventsOf(tapped({ model }, one, { clock: still }), request)
  const text = events.map((event) => (event.type === 'text' ? event.delta : '')).join('')
  const last = events.at(-1)!
  return {
    text,
    opaque: last.type === 'end' ? last.opaque : undefined,
    messages: JSON.parse(one.sent[0]!.body).messages,
  }
}

const asks = (end: string) => new RegExp(`ends with ${JSON.stringify(end).replace(/[.…\\]/g, '.')}`)

test('a model that cannot be given the beginning of its answer is asked for the rest, and the record keeps both halves', async () => {
  const { text, opaque, messages } = await rest('groq/x', begun('I will lo'), chatSays('ok at ', 'it.'))
  assert.equal(text, 'ok at it.')
  assert.deepEqual(messages.slice(0, 3), [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'hello' },
    { role: 'assistant', content: 'I will lo' },
  ])
  assert.match(messages[3].content, asks('I will lo'))
  assert.deepEqual(opaque, { of: 'groq/x', pieces: [{ text: 9 }, { cut: true }, { text: 9 }] })
})

test('the request after a cut answer begins with the bytes of the request that asked for its rest', async () => {
  const cut: ModelMessage = {
    role: 'assistant',
    text: 'I will look at it.',
    calls: [],
    opaque: { of: 'groq/x', pieces: [{ text: 9 }, { cut: true }, { text: 4 }, { cut: true }, { text: 5 }] },
  }
  const twice = await rest('groq/x', begun('I will lo', 'ok a'), chatSays('t it.'))
  const next: ModelRequest = { ...hello, messages: [...hello.messages, cut, { role: 'user', text: 'Go on.' }] }
  const after = await rest('groq/x', next, chatSays('Yes.'))
  assert.deepEqual(after.messages.slice(0, twice.messages.length), twice.messages)
  assert.deepEqual(after.messages.slice(twice.messages.length), [
    { role: 'assistant', content: 't it.' },
    { role: 'user', content: 'Go on.' },
  ])
  // Another model is given the answer whole.
  const other = await rest('groq/y', next, chatSays('Yes.'))
  assert.deepEqual(other.messages[2], { role: 'assistant', content: 'I will look at it.' })
})

test('words that a model repeats when it goes on are shown once', async () => {
  const first = 'The quick brown fox jumps over the lazy dog, and'
  const cases: [string[], string][] = [
    [[' then it sleeps.'], ' then it sleeps.'],
    [['the lazy', ' dog, and', ' then it sleeps.'], ' then it sleeps.'],
    [[`${first} then it sleeps.`], ' then it sleeps.'],
    [['The quick brown', ' cat sits.'], 'The quick brown cat sits.'],
    // A short repetition may be meant.
    [[', and', ' and then'], ', and and then'],
    [['the lazy dog, and'], ''],
  ]
  for (const [words, expected] of cases) {
    const { text, opaque } = await rest('groq/x', begun(first), chatSays(...words))
    assert.equal(text, expected)
    assert.deepEqual(opaque, {
      of: 'groq/x',
      pieces: [{ text: first.length }, { cut: true }, { text: expected.length }],
    })
  }
})

test('Anthropic: an older model continues its own message; a newer one, one that thinks, and one after a space are asked', async () => {
  const old = await rest('anthropic/claude-sonnet-4-5', begun('I will', ' lo'), anthropicSays('ok.'))
  assert.deepEqual(old, {
    text: 'ok.',
    opaque: undefined,
    messages: [
      { role: 'user', content: 'hello' },
      { role: 'assistant', content: [{ type: 'text', text: 'I will lo' }] },
    ],
  })
  for (const [model, words] of [
    ['anthropic/claude-sonnet-4-6', 'I will lo'],
    ['anthropic/claude-sonnet-4-5', 'I will '],
  ] as const) {
    const { messages } = await rest(model, begun(words), anthropicSays('ok.'))
    assert.deepEqual(messages.slice(0, 2), [
      { role: 'user', content: 'hello' },
      { role: 'assistant', content: [{ type: 'text', text: words }] },
    ])
    assert.match(messages[2].content, asks(words))
  }
})

test('a server that refuses the beginning of an answer is asked for the rest', async () => {
  const message =
    'This model does not support assistant message prefill. The conversation must end with a user message.'
  const refusal = { status: 400, chunks: [JSON.stringify({ error: { type: 'invalid_request_error', message } })] }
  const one = tap([refusal, anthropicSays('ok.')])
  await eventsOf(tapped({ model: 'anthropic/claude-sonnet-4-5' }, one, { clock: still }), begun('I will lo'))
  const roles = one.sent.map(({ body }) => JSON.parse(body).messages.map((one: { role: string }) => one.role))
  assert.deepEqual(roles, [
    ['user', 'assistant'],
    ['user', 'assistant', 'user'],
  ])
})
