import { png } from '../picture-bodies.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { ModelEvent, ModelMessage, ModelRequest } from '../../src/core/work/model.ts'
import type { Recorded } from './streams.ts'
import { blobs, eventsOf, still, hello, tap, tapped } from './tap.ts'
import { recorded } from './streams.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const frame = {
  system: 'Be brief.',
  tools: [
    { name: 'ls', description: 'Lists.', schema: { type: 'object', properties: { path: { type: 'string' } } } },
    { name: 'file_reader', description: 'Reads.', schema: { type: 'object' } },
  ],
}
const picture = await blobs.put(Uint8Array.of(1, 2, 3), 'image/png')

/** An answer as the loop keeps it. */
function spoken(events: readonly ModelEvent[]): ModelMessage {
  const end = events.find((event) => event.type === 'end')!
  return {
    role: 'assistant',
    text: events.map((event) => (event.type === 'text' ? event.delta : '')).join(''),
    calls: events.flatMap((event) =>
      event.type === 'call' ? [{ id: event.id, tool: event.tool, input: event.input }] : [],
    ),
    ...(end.type === 'end' && end.opaque !== undefined ? { opaque: end.opaque } : {}),
  }
}

function conversation({ events }: Recorded): ModelMessage[] {
  const answer = spoken(events)
  const [first, second] = answer.role === 'assistant' ? answer.calls : []
  return [
    { role: 'user', text: 'What is this?', files: [picture] },
    answer,
    { role: 'tool', call: first!.id, tool: first!.tool, ok: true, text: 'export {}', files: [picture] },
    { role: 'tool', call: second!.id, tool: second!.tool, ok: false, text: 'no such folder' },
    { role: 'user', text: 'Hurry up.' },
    { role: 'assistant', text: 'It is empty.', calls: [] },
    { role: 'user', text: 'Thanks.' },
  ]
}

async function bodyOf(model: string, request: ModelRequest, more: object = {}): Promise<string> {
  const one = tap((url) => (/api\/(show|ps)/.test(url) ? { status: 500 } : { chunks: [] }))
  await eventsOf(tapped({ model, ...more }, one, { clock: still, session: 'a-session' }), request)
  return one.sent.find(({ url }) => !/api\/(show|ps)/.test(url))!.body
}

for (const [wire, one] of Object.entries(recorded)) {
  test(`${wire}: a text told aside follows the messages, and the next request goes on without it`, async () => {
    const messages = conversation(one)
    const plain = await bodyOf(one.model, { frame, messages: messages.slice(0, 4) })
    const told = await bodyOf(one.model, { frame, messages: messages.slice(0, 4), aside: 'Two workers are running.' })
    const next = await bodyOf(one.model, { frame, messages: messages.slice(0, 5) })
    assert.ok(next.startsWith(plain.slice(0, -2)))
    assert.equal(next.includes('Two workers are running.'), false)
    // Only Anthropic's cache has a mark, which must not stand behind what the next request lacks.
    const mark = ',"cache_control":{"type":"ephemeral"}'
    const unmarked = (body: string) => body.replaceAll(mark, '').replace('"cache_control":{"type":"ephemeral"},', '')
    assert.ok(unmarked(told).startsWith(unmarked(plain).slice(0, -2)), told)
    assert.match(unmarked(told).slice(unmarked(plain).length - 2), /^[^}]*Two workers are running\.[^,]*$/)
    if (wire === 'anthropic')
      assert.ok(told.indexOf(mark, told.indexOf('no such folder')) < told.indexOf('Two workers'))
  })

  test(`${wire}: each request is a prefix of the next, byte for byte`, async () => {
    const messages = conversation(one)
    // The loop asks after the prompt, after all results, and after each later prompt.
    const bodies = await Promise.all(
      [1, 4, 5, 7].map((count) => bodyOf(one.model, { frame, messages: messages.slice(0, count) })),
    )
    for (const [at, body] of bodies.entries()) {
      assert.match(body, /\]\}$/)
      assert.ok((bodies[at + 1] ?? body).startsWith(body.slice(0, -2)), `request ${at + 1}`)
      assert.equal(
        await bodyOf(one.model, { frame, messages: messages.slice(0, [1, 4, 5, 7][at]) }),
        body,
        'and the same again',
      )
    }
  })
}

const bodies = async (one: Recorded) => JSON.parse(await bodyOf(one.model, { frame, messages: conversation(one) }))
const image = 'AQID'
const words = 'Ich schaue 👀 nach…'
const read = { file_path: 'src/größe.ts', limit: 3 }

test('Anthropic is sent blocks, with its thoughts signed as they came, and two marks for its cache', async () => {
  const shown = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: image } }
  assert.deepEqual(await bodies(recorded.anthropic!), {
    model: 'claude-sonnet-4-6',
    max_tokens: 32_000,
    stream: true,
    cache_control: { type: 'ephemeral' },
    thinking: { type: 'adaptive', display: 'summarized' },
    tools: frame.tools.map(({ name, description, schema }) => ({ name, description, input_schema: schema })),
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    messages: [
      { role: 'user', content: [shown, { type: 'text', text: 'What is this?' }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Wo ist es?', signature: 'c2lnbmVk' },
          { type: 'redacted_thinking', data: 'c2VhbGVk' },
          { type: 'text', text: words },
          { type: 'tool_use', id: 'toolu_1', name: 'file_reader', input: read },
          { type: 'tool_use', id: 'toolu_2', name: 'ls', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'export {}' }, shown] },
          { type: 'tool_result', tool_use_id: 'toolu_2', content: 'no such folder', is_error: true },
        ],
      },
      { role: 'user', content: 'Hurry up.' },
      { role: 'assistant', content: [{ type: 'text', text: 'It is empty.' }] },
      { role: 'user', content: 'Thanks.' },
    ],
  })
})

test('OpenAI is sent items, with its thoughts sealed as they came, and keeps none of them', async () => {
  const shown = { type: 'input_image', image_url: `data:image/png;base64,${image}` }
  assert.deepEqual(await bodies(recorded.responses!), {
    model: 'gpt-5.4',
    stream: true,
    store: false,
    reasoning: { summary: 'auto' },
    include: ['reasoning.encrypted_content'],
    prompt_cache_key: 'a-session',
    tools: frame.tools.map(({ name, description, schema }) => ({
      type: 'function',
      name,
      description,
      parameters: schema,
      strict: false,
    })),
    instructions: 'Be brief.',
    input: [
      { role: 'user', content: [{ type: 'input_text', text: 'What is this?' }, shown] },
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Wo ist es?' }], encrypted_content: 'c2VhbGVk' },
      { type: 'message', role: 'assistant', phase: 'commentary', content: [{ type: 'output_text', text: words }] },
      { type: 'function_call', call_id: 'call_1', name: 'file_reader', arguments: JSON.stringify(read) },
      { type: 'function_call', call_id: 'call_2', name: 'ls', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_1', output: [{ type: 'input_text', text: 'export {}' }, shown] },
      { type: 'function_call_output', call_id: 'call_2', output: 'no such folder' },
      { role: 'user', content: 'Hurry up.' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'It is empty.' }] },
      { role: 'user', content: 'Thanks.' },
    ],
  })
})

test('a chat server is sent messages; thoughts go back under their name, and who cannot see is told what was shown', async () => {
  const missing = { type: 'text', text: '[an image/png was attached here, but this model cannot see pictures]' }
  assert.deepEqual(await bodies(recorded.chat!), {
    model: 'openai/gpt-oss-120b',
    stream: true,
    stream_options: { include_usage: true },
    tools: frame.tools.map(({ name, description, schema }) => ({
      type: 'function',
      function: { name, description, parameters: schema },
    })),
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'What is this?' }, missing] },
      {
        role: 'assistant',
        content: words,
        reasoning: 'Wo ist es?',
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'file_reader', arguments: JSON.stringify(read) } },
          { id: 'call_2', type: 'function', function: { name: 'ls', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'export {}' },
      { role: 'tool', tool_call_id: 'call_2', content: 'no such folder' },
      { role: 'user', content: [{ type: 'text', text: 'What file_reader showed:' }, missing] },
      { role: 'user', content: 'Hurry up.' },
      { role: 'assistant', content: 'It is empty.' },
      { role: 'user', content: 'Thanks.' },
    ],
  })
})

test('Google is sent parts, each with the signature it came with', async () => {
  const shown = { inlineData: { mimeType: 'image/png', data: image } }
  assert.deepEqual(await bodies(recorded.gemini!), {
    generationConfig: { thinkingConfig: { includeThoughts: true } },
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    tools: [
      {
        functionDeclarations: frame.tools.map(({ name, description, schema }) => ({
          name,
          description,
          parametersJsonSchema: schema,
        })),
      },
    ],
    contents: [
      { role: 'user', parts: [{ text: 'What is this?' }, shown] },
      {
        role: 'model',
        parts: [
          { text: words },
          { functionCall: { id: 'fc_1', name: 'file_reader', args: read }, thoughtSignature: 'c2lnbmVk' },
          { functionCall: { id: 'fc_2', name: 'ls', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'fc_1', name: 'file_reader', response: { output: 'export {}' } } },
          shown,
          { functionResponse: { id: 'fc_2', name: 'ls', response: { error: 'no such folder' } } },
        ],
      },
      { role: 'user', parts: [{ text: 'Hurry up.' }] },
      { role: 'model', parts: [{ text: 'It is empty.' }] },
      { role: 'user', parts: [{ text: 'Thanks.' }] },
    ],
  })
})

test('Ollama is told how much context is wanted, and to leave nothing out', async () => {
  assert.deepEqual(await bodies(recorded.ollama!), {
    model: 'qwen3',
    stream: true,
    truncate: false,
    shift: false,
    options: { num_ctx: 32_768 },
    tools: frame.tools.map(({ name, description, schema }) => ({
      type: 'function',
      function: { name, description, parameters: schema },
    })),
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'What is this?', images: [image] },
      {
        role: 'assistant',
        content: words,
        thinking: 'Wo ist es?',
        tool_calls: [
          { id: 'call_1', function: { name: 'file_reader', arguments: read } },
          { id: 'call_2', function: { name: 'ls', arguments: {} } },
        ],
      },
      { role: 'tool', content: 'export {}', tool_name: 'file_reader', tool_call_id: 'call_1' },
      { role: 'tool', content: 'no such folder', tool_name: 'ls', tool_call_id: 'call_2' },
      { role: 'user', content: 'What the tools showed:', images: [image] },
      { role: 'user', content: 'Hurry up.' },
      { role: 'assistant', content: 'It is empty.' },
      { role: 'user', content: 'Thanks.' },
    ],
  })
})

test('thoughts of another model are not sent to this one, and its ids are rewritten as this one allows', async () => {
  const messages: ModelMessage[] = [
    { role: 'user', text: 'a' },
    {
      role: 'assistant',
      text: 'hm',
      calls: [{ id: 'functions.ls:0', tool: 'ls', input: '{"pa' }],
      opaque: {
        of: 'anthropic/claude-opus-4-6',
        pieces: [{ item: { type: 'thinking' } }, { text: 2 }, { call: 'functions.ls:0' }],
      },
    },
    { role: 'tool', call: 'functions.ls:0', tool: 'ls', ok: false, text: 'no' },
  ]
  const body = JSON.parse(await bodyOf('anthropic/claude-sonnet-4-6', { frame, messages }))
  assert.deepEqual(body.messages.slice(1), [
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'hm' },
        { type: 'tool_use', id: 'functions_ls_0', name: 'ls', input: { input: '{"pa' } },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'functions_ls_0', content: 'no', is_error: true }] },
  ])
})

test('an opaque item whose call was cut or never made is left out of the request', async () => {
  const item = { type: 'reasoning', summary: [], encrypted_content: 'c2Vh' }
  const items = async (text: string, pieces: object[]) => {
    const messages: ModelMessage[] = [{ role: 'assistant', text, calls: [], opaque: { of: 'openai/gpt-5.4', pieces } }]
    return JSON.parse(await bodyOf('openai/gpt-5.4', { frame, messages })).input
  }
  const words = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'hm' }] }
  assert.deepEqual(await items('hm', [{ item }, { text: 2 }]), [item, words])
  assert.deepEqual(await items('hm', [{ text: 2 }, { item }, { call: 'never made' }]), [words])
  assert.deepEqual(await items('hm', [{ item }, { text: 200 }]), [words])
})

test('white space alone is no block for Anthropic', async () => {
  const messages: ModelMessage[] = [
    { role: 'assistant', text: ' \n', calls: [{ id: 'a', tool: 'ls', input: {} }] },
    { role: 'tool', call: 'a', tool: 'ls', ok: true, text: '' },
  ]
  const body = JSON.parse(await bodyOf('anthropic/claude-opus-5', { frame, messages }))
  assert.deepEqual(body.messages[0].content, [{ type: 'tool_use', id: 'a', name: 'ls', input: {} }])
})

test('a call of another model reaches Gemini with Gemini’s own marker for it, and our ids stay here', async () => {
  const messages: ModelMessage[] = [
    {
      role: 'assistant',
      text: '',
      calls: [
        { id: 'gemini-made-here', tool: 'ls', input: {} },
        { id: 'call_2', tool: 'ls', input: {} },
      ],
    },
  ]
  const body = JSON.parse(await bodyOf('google/gemini-3.5-flash', { frame, messages }))
  assert.deepEqual(body.contents[0].parts, [
    { functionCall: { name: 'ls', args: {} }, thoughtSignature: 'skip_thought_signature_validator' },
    { functionCall: { id: 'call_2', name: 'ls', args: {} } },
  ])
})

test('thoughts are left out once a server refused their name', async () => {
  const refusal = { error: { message: "'messages.2' : property 'reasoning' is unsupported" } }
  const bad = { status: 400, headers: { 'content-type': 'application/json' }, chunks: [JSON.stringify(refusal)] }
  const one = tap([bad, { chunks: [] }])
  const model = tapped({ model: recorded.chat!.model }, one, { clock: still })
  await eventsOf(model, { frame, messages: conversation(recorded.chat!) })
  assert.deepEqual(
    one.sent.map(({ body }) => 'reasoning' in JSON.parse(body).messages[2]),
    [true, false],
  )
})

test('a call without a result is told as interrupted, a result without its call is not told, words between are moved', async (t) => {
  const messages: ModelMessage[] = [
    { role: 'tool', call: 'gone', tool: 'ls', ok: true, text: 'nobody asked' },
    {
      role: 'assistant',
      text: '',
      calls: [
        { id: 'a', tool: 'ls', input: {} },
        { id: 'b', tool: 'ls', input: {} },
      ],
    },
    { role: 'user', text: 'between' },
    { role: 'tool', call: 'b', tool: 'ls', ok: true, text: 'files' },
    { role: 'assistant', text: '', calls: [] },
  ]
  const body = JSON.parse(await bodyOf('groq/openai/gpt-oss-120b', { frame: { system: '', tools: [] }, messages }))
  golden(
    t,
    body.messages.map(({ tool_calls: _calls, ...rest }: any) => rest),
  )
})

test('each provider is told how hard to think in its own way', async () => {
  const parts = ['thinking', 'output_config', 'reasoning', 'reasoning_effort', 'generationConfig']
  const told = async (model: string, effort: string) => {
    const body = JSON.parse(await bodyOf(model, hello, { effort }))
    return Object.fromEntries(parts.filter((part) => part in body).map((part) => [part, body[part]]))
  }
  assert.deepEqual(await told('anthropic/claude-opus-5', 'minimal'), {
    thinking: { type: 'adaptive', display: 'summarized' },
    output_config: { effort: 'low' },
  })
  assert.deepEqual(await told('anthropic/claude-opus-5', 'none'), { thinking: { type: 'disabled' } })
  assert.deepEqual(await told('anthropic/claude-sonnet-4-5', 'high'), {
    thinking: { type: 'enabled', budget_tokens: 16_384 },
  })
  assert.deepEqual(await told('openai/gpt-6-sol', 'xhigh'), { reasoning: { effort: 'xhigh', summary: 'auto' } })
  assert.deepEqual(await told('openai/gpt-4o', 'high'), {})
  assert.deepEqual(await told('groq/openai/gpt-oss-20b', 'max'), { reasoning_effort: 'high' })
  assert.deepEqual(await told('openrouter/x-ai/grok-4', 'low'), { reasoning: { effort: 'low' } })
  assert.deepEqual(await told('google/gemini-3.5-flash', 'medium'), {
    generationConfig: { thinkingConfig: { includeThoughts: true, thinkingLevel: 'MEDIUM' } },
  })
  assert.deepEqual(await told('google/gemini-2.5-pro', 'low'), {
    generationConfig: { thinkingConfig: { includeThoughts: true, thinkingBudget: 4096 } },
  })
  assert.deepEqual(await told('google/gemma-3-27b-it', 'low'), {})
})

test('a wanted shape is told to each provider in its own way', async () => {
  const schema = { type: 'object', properties: { ok: { type: 'boolean' } } }
  const told = async (model: string, part: string) => JSON.parse(await bodyOf(model, { ...hello, schema }))[part]
  assert.deepEqual(await told('anthropic/claude-opus-4-5', 'output_config'), {
    format: { type: 'json_schema', schema },
  })
  assert.deepEqual(await told('openai/gpt-4o', 'text'), {
    format: { type: 'json_schema', name: 'answer', strict: false, schema },
  })
  assert.deepEqual(await told('groq/openai/gpt-oss-120b', 'response_format'), {
    type: 'json_schema',
    json_schema: { name: 'answer', schema },
  })
  assert.deepEqual(await told('google/gemma-3-27b-it', 'generationConfig'), {
    responseMimeType: 'application/json',
    responseJsonSchema: schema,
  })
  assert.deepEqual(await told('ollama/qwen3', 'format'), schema)
})

test('a model of Anthropic behind OpenRouter has its cache marked', async () => {
  assert.deepEqual(JSON.parse(await bodyOf('openrouter/anthropic/claude-sonnet-4.5', hello)).cache_control, {
    type: 'ephemeral',
  })
  assert.equal('cache_control' in JSON.parse(await bodyOf('openrouter/openai/gpt-5', hello)), false)
})

test('a missing image is replaced by a sentence', async (t) => {
  const gone = { sha: 'ff'.repeat(32), media: 'image/jpeg', bytes: 3 }
  const body = JSON.parse(
    await bodyOf('openai/gpt-4o', { frame, messages: [{ role: 'user', text: 'see', files: [gone] }] }),
  )
  golden(t, body.input)
})

test('a damaged image of any tool never reaches a provider', async (t) => {
  const cut = await blobs.put(png(4, 4).subarray(0, -5), 'image/png')
  const messages: ModelMessage[] = [{ role: 'user', text: 'see', files: [cut] }]
  const body = JSON.parse(await bodyOf('openai/gpt-4o', { frame, messages }))
  golden(t, body.input[0].content[1])
})

test('an image that the provider would refuse is replaced by a sentence with its size, in bytes or in points', async (t) => {
  const heavy = await blobs.put(png(4, 4, 5 * 1024 * 1024), 'image/png')
  const wide = await blobs.put(png(8001, 1), 'image/png')
  const messages: ModelMessage[] = [{ role: 'user', text: 'see', files: [heavy, wide] }]
  const body = JSON.parse(await bodyOf('anthropic/claude-sonnet-4-6', { frame, messages }))
  golden(t, body.messages[0].content)
  const google = JSON.parse(await bodyOf('google/gemini-3-flash', { frame, messages }))
  assert.deepEqual(
    google.contents[0].parts.map((part: object) => Object.keys(part)[0]),
    ['text', 'inlineData', 'inlineData'],
  )
})
