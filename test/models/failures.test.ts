import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Failure } from '../../src/core/talk/outcome.ts'
import type { Trouble } from '../real/model/script.ts'
import type { Reply } from './tap.ts'
import { HandClock } from '../hand-clock.ts'
import { anthropic } from '../real/model/anthropic.ts'
import { gemini } from '../real/model/gemini.ts'
import { openaiTrouble } from '../real/model/openai.ts'
import { planResets } from '../real/model/script.ts'
import { openModel } from '../../src/models/open/open-model.ts'
import { blobs, eventsOf, still, hello, secret, sse, tap, tapped } from './tap.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const models = {
  anthropic: 'anthropic/claude-sonnet-4-6',
  responses: 'openai/gpt-5.4',
  chat: 'groq/openai/gpt-oss-120b',
  gemini: 'google/gemini-3.5-flash',
}

async function failureOf(model: string, reply: Reply, clock = still): Promise<Failure> {
  const events = await eventsOf(tapped({ model }, tap([reply]), { clock }), hello)
  assert.equal(events.length, 1, JSON.stringify(events))
  const [last] = events
  assert.ok(last?.type === 'failure', JSON.stringify(last))
  assert.ok(!JSON.stringify(last).includes(secret), 'the key is never said')
  return last.failure
}

const told = (status: number, body: unknown, headers: Record<string, string> = {}): Reply => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  chunks: [typeof body === 'string' ? body : JSON.stringify(body)],
})

/** The answers of each provider, with the kind of failure that each is; the clock of this test stands at 0. */
const kinds: Record<keyof typeof models, [Trouble, Partial<Failure>][]> = {
  anthropic: [
    ['rate', { kind: 'busy', retryAt: 1000 }],
    ['plan', { kind: 'quota', retryAt: planResets * 1000 }],
    ['key', { kind: 'auth' }],
    ['credit', { kind: 'quota' }],
    ['server', { kind: 'busy' }],
    ['overloaded', { kind: 'busy' }],
    ['overflow', { kind: 'overflow' }],
  ],
  responses: [
    ['rate', { kind: 'busy', retryAt: 20_000 }],
    ['quota', { kind: 'quota' }],
    ['plan', { kind: 'quota', retryAt: planResets * 1000 }],
    ['key', { kind: 'auth' }],
    ['server', { kind: 'busy' }],
    ['overloaded', { kind: 'busy' }],
    ['overflow', { kind: 'overflow' }],
  ],
  chat: [
    ['rate', { kind: 'busy', retryAt: 20_000 }],
    ['quota', { kind: 'quota' }],
    ['key', { kind: 'auth' }],
    ['overflow', { kind: 'overflow' }],
  ],
  gemini: [
    ['rate', { kind: 'busy' }],
    ['quota', { kind: 'quota' }],
    ['plan', { kind: 'busy', retryAt: 41_000 }],
    ['key', { kind: 'auth' }],
    ['server', { kind: 'busy' }],
    ['overloaded', { kind: 'busy' }],
    ['overflow', { kind: 'overflow' }],
  ],
}
const troubles = { anthropic: anthropic.trouble, responses: openaiTrouble, chat: openaiTrouble, gemini: gemini.trouble }

for (const [wire, cases] of Object.entries(kinds) as [keyof typeof models, (typeof kinds)['chat']][]) {
  test(`${wire}: each refusal is the failure that it means`, async () => {
    for (const [trouble, expected] of cases) {
      const { status, headers, body } = troubles[wire][trouble]!
      const { message, ...found } = await failureOf(models[wire], {
        status,
        ...(headers ? { headers } : {}),
        chunks: [body],
      })
      assert.deepEqual(found, expected, `${trouble}: ${message}`)
    }
  })
}

/** Messages as they were seen elsewhere. */
const rare: [string, Reply, Partial<Failure>][] = [
  [
    models.chat,
    told(429, {
      error: {
        message:
          'Rate limit reached for model `openai/gpt-oss-120b` in organization `org_1` on tokens per day (TPD): Limit 200000, Used 199336, Requested 3842. Please try again in 22m52.5s.',
        type: 'tokens',
        code: 'rate_limit_exceeded',
      },
    }),
    { kind: 'quota', retryAt: 1_372_500 },
  ],
  [
    models.chat,
    told(413, {
      error: {
        message:
          'Request too large for model `openai/gpt-oss-120b` on tokens per minute (TPM): Limit 8000, Requested 14211, please reduce your message size and try again.',
        type: 'tokens',
        code: 'rate_limit_exceeded',
      },
    }),
    { kind: 'overflow' },
  ],
  [
    models.chat,
    told(429, { error: { message: 'Slow down.' } }, { 'retry-after': '7200' }),
    { kind: 'quota', retryAt: 7_200_000 },
  ],
  [models.chat, told(429, '', { 'retry-after': new Date(60_000).toUTCString() }), { kind: 'busy', retryAt: 60_000 }],
  [
    models.responses,
    told(429, {
      error: {
        message:
          'Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40000. The input or output tokens must be reduced in order to run successfully.',
        type: 'tokens',
        code: 'rate_limit_exceeded',
      },
    }),
    { kind: 'overflow' },
  ],
  [
    models.gemini,
    told(429, {
      error: {
        code: 429,
        status: 'RESOURCE_EXHAUSTED',
        message: 'You exceeded your current quota.',
        details: [{ violations: [{ quotaId: 'GenerateRequestsPerDayPerProject' }] }, { retryDelay: '41s' }],
      },
    }),
    { kind: 'quota' },
  ],
  [models.chat, told(404, { error: { message: 'The model `nope` does not exist' } }), { kind: 'missing' }],
  [models.chat, told(400, { error: { message: "'messages.1' : wrong" } }), { kind: 'crash' }],
  [models.chat, told(502, '<html><body>Bad gateway</body></html>'), { kind: 'busy' }],
  [
    'openrouter/a/b',
    told(402, { error: { code: 402, message: 'This request requires more credits' } }),
    { kind: 'quota' },
  ],
  [
    'openrouter/a/b',
    told(429, {
      error: {
        code: 429,
        message: 'Rate limit exceeded: free-models-per-day',
        metadata: { headers: { 'X-RateLimit-Reset': '86400000' } },
      },
    }),
    { kind: 'quota', retryAt: 86_400_000 },
  ],
  [
    models.anthropic,
    told(400, {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: 'input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease input length',
      },
    }),
    { kind: 'overflow' },
  ],
  [
    'llamacpp/any',
    told(400, {
      error: {
        code: 400,
        message: 'the request exceeds the available context size (4096), try increasing it',
        type: 'exceed_context_size_error',
      },
    }),
    { kind: 'overflow' },
  ],
  ['lmstudio/any', { refuse: 'ECONNREFUSED' }, { kind: 'missing' }],
  [models.chat, { refuse: 'ENOTFOUND' }, { kind: 'crash' }],
  [models.chat, { chunks: [] }, { kind: 'crash' }],
  [models.chat, told(200, { error: { message: 'Overloaded', type: 'overloaded_error' } }), { kind: 'busy' }],
]

test('refusals that were seen elsewhere have their kinds', async () => {
  for (const [model, reply, expected] of rare) {
    const { message, ...found } = await failureOf(model, reply)
    assert.deepEqual(found, expected, message)
  }
})

test('a refused key is explained with the next step, and the key is never quoted', async (t) => {
  const echo = told(401, { error: { message: `Incorrect API key provided: ${secret}.` } })
  golden(t, await failureOf(models.responses, echo))
  golden(t, await failureOf('lmstudio/any', { refuse: 'ECONNREFUSED' }))
  const keyless = tap([])
  golden(t, await eventsOf(tapped({ model: 'openrouter/a/b' }, keyless, { key: () => undefined }), hello))
  assert.deepEqual(keyless.sent, [])
})

test('a key that cannot be a header is not quoted either', async () => {
  const events = await eventsOf(
    openModel({ model: models.responses }, { key: () => 'sk-two\nlines', blobs, clock: still }),
    hello,
  )
  assert.equal(events.at(-1)?.type, 'failure')
  assert.ok(!/sk-two/.test(JSON.stringify(events)), JSON.stringify(events))
})

test('an unknown model name, and a missing address, are reported when the model is asked', async (t) => {
  const said = async (model: string) => (await eventsOf(tapped({ model }, tap([])), hello))[0]
  assert.deepEqual(await said('nobody/x'), {
    type: 'failure',
    failure: {
      kind: 'missing',
      message:
        'there is no provider nobody; use one of anthropic, openai, google, groq, openrouter, ollama, lmstudio, llamacpp, bedrock, vertex, azure, compatible',
    },
  })
  assert.deepEqual(await said('groq'), {
    type: 'failure',
    failure: { kind: 'missing', message: 'groq names no model; write groq/<model>' },
  })
  golden(t, await said('compatible/x'))
})

const ok = { chunks: [sse({ choices: [{ delta: { content: 'yes' }, finish_reason: 'stop' }] }, '[DONE]')] }
const yes = [
  { type: 'text', delta: 'yes' },
  { type: 'end', stop: 'done' },
]

test('a failure that passes by itself is marked, and the request is sent once: the agent decides how long it waits', async () => {
  const passing: [string, Reply, boolean][] = [
    [models.chat, told(503, { error: { message: 'overloaded' } }), true],
    [models.anthropic, told(529, { error: { type: 'overloaded_error', message: 'Overloaded' } }), true],
    [models.chat, told(429, '', { 'retry-after': '9' }), true],
    [models.chat, told(503, '', { 'x-should-retry': 'false' }), false],
    [models.chat, told(429, { error: { message: 'Slow down.' } }, { 'retry-after': '7200' }), false],
    [models.chat, told(401, ''), false],
    [models.chat, told(400, ''), false],
    // The network is down: the provider's own address is right.
    [models.chat, { refuse: 'ENOTFOUND' }, true],
    [models.chat, { refuse: 'ECONNREFUSED' }, true],
    [models.chat, { refuse: 'CERT_HAS_EXPIRED' }, false],
    ['lmstudio/any', { refuse: 'ECONNREFUSED' }, false],
    [models.chat, { chunks: [] }, true],
  ]
  for (const [model, reply, passes] of passing) {
    const one = tap([reply, ok])
    const [last] = await eventsOf(tapped({ model }, one, { clock: still }), hello)
    assert.deepEqual(
      [last?.type === 'failure' && (last.passing ?? false), one.sent.length],
      [passes, 1],
      JSON.stringify(last),
    )
  }
})

test('a server that is gone after it has answered may come back', async () => {
  const one = tap([ok, { refuse: 'ECONNREFUSED' }])
  const model = tapped({ model: 'lmstudio/any' }, one, { clock: still })
  assert.deepEqual(await eventsOf(model, hello), yes)
  assert.deepEqual(await eventsOf(model, hello), [
    {
      type: 'failure',
      failure: { kind: 'crash', message: 'LM Studio cannot be reached: ECONNREFUSED' },
      passing: true,
    },
  ])
})

test('the time at which a provider can be asked again is read from every form that it is stated in', async () => {
  const at = new Date(90_000).toISOString()
  const forms: [string, Record<string, string>, number | undefined][] = [
    [models.chat, { 'retry-after-ms': '1500', 'retry-after': '2' }, 1500],
    [models.chat, { 'retry-after': '2.5' }, 2500],
    [models.chat, { 'retry-after': new Date(60_000).toUTCString() }, 60_000],
    [models.chat, { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '1m3.5s' }, 63_500],
    [models.chat, { 'x-ratelimit-remaining-tokens': '7', 'x-ratelimit-reset-tokens': '1m3.5s' }, undefined],
    [models.anthropic, { 'anthropic-ratelimit-tokens-remaining': '0', 'anthropic-ratelimit-tokens-reset': at }, 90_000],
    [
      models.anthropic,
      { 'anthropic-ratelimit-tokens-remaining': '9', 'anthropic-ratelimit-tokens-reset': at },
      undefined,
    ],
  ]
  for (const [model, headers, expected] of forms)
    assert.equal((await failureOf(model, told(429, '', headers))).retryAt, expected, JSON.stringify(headers))
})

test('a connection that breaks after the first word keeps the words, and the same request is not sent again', async () => {
  const half = sse({ choices: [{ delta: { content: 'half' } }] })
  for (const reply of [{ chunks: [half], then: 'break' as const }, { chunks: [half] }]) {
    const one = tap([reply, ok])
    const [said, last] = await eventsOf(tapped({ model: models.chat }, one, { clock: still }), hello)
    assert.deepEqual(said, { type: 'text', delta: 'half' })
    assert.equal(last?.type === 'failure' && last.failure.kind, 'crash')
    assert.equal(one.sent.length, 1)
  }
})

test('a connection that breaks after the last word has brought a whole answer', async () => {
  const whole = sse({ choices: [{ delta: { content: 'yes' }, finish_reason: 'stop' }] })
  assert.deepEqual(
    await eventsOf(tapped({ model: models.chat }, tap([{ chunks: [whole], then: 'break' }]), { clock: still }), hello),
    yes,
  )
})

test('a server that says nothing more counts as gone after a while, in the middle of an answer too', async () => {
  const half = sse({ choices: [{ delta: { content: 'half' } }] })
  for (const chunks of [[], [half]]) {
    const clock = new HandClock(0)
    const one = tap([{ chunks, then: 'hang' }])
    const answer = eventsOf(tapped({ model: models.chat }, one, { clock, silenceMs: 10_000 }), hello)
    await clock.turn(10_000)
    assert.deepEqual((await answer).at(-1), {
      type: 'failure',
      failure: { kind: 'crash', message: 'Groq failed: nothing came for 10 s' },
      passing: true,
    })
    assert.equal(one.open(), 0)
    assert.equal(clock.asleep, 0)
  }
})

test('an error in the middle of a stream becomes the failure that it names', async () => {
  const cases: [string, object, Failure['kind']][] = [
    [models.anthropic, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 'busy'],
    [
      models.responses,
      {
        type: 'response.failed',
        response: {
          error: { code: 'context_length_exceeded', message: 'Your input exceeds the context window of this model.' },
        },
      },
      'overflow',
    ],
    [models.responses, { type: 'error', code: 'rate_limit_exceeded', message: 'Slow down.' }, 'busy'],
    [models.chat, { error: { message: 'Provider disconnected', code: 502 } }, 'busy'],
    [models.gemini, { error: { code: 503, status: 'UNAVAILABLE', message: 'overloaded' } }, 'busy'],
    [models.gemini, { candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL' }] }, 'crash'],
    [models.anthropic, { type: 'message_delta', delta: { stop_reason: 'model_context_window_exceeded' } }, 'overflow'],
  ]
  for (const [model, event, kind] of cases) assert.equal((await failureOf(model, { chunks: [sse(event)] })).kind, kind)
})

test('a refusal is an answer', async () => {
  const cases: [string, Reply, string][] = [
    [
      models.anthropic,
      { chunks: [sse({ type: 'message_delta', delta: { stop_reason: 'refusal' } }, { type: 'message_stop' })] },
      '',
    ],
    [
      models.chat,
      { chunks: [sse({ choices: [{ delta: { refusal: 'No.' }, finish_reason: 'stop' }] }, '[DONE]')] },
      'No.',
    ],
    [models.chat, { chunks: [sse({ choices: [{ delta: {}, finish_reason: 'content_filter' }] }, '[DONE]')] }, ''],
    [models.gemini, { chunks: [sse({ candidates: [{ finishReason: 'SAFETY' }] })] }, ''],
    [models.gemini, { chunks: [sse({ promptFeedback: { blockReason: 'OTHER' } })] }, 'The prompt was blocked: OTHER.'],
    [
      models.responses,
      {
        chunks: [sse({ type: 'response.incomplete', response: { incomplete_details: { reason: 'content_filter' } } })],
      },
      '',
    ],
    [models.responses, told(400, { error: { code: 'invalid_prompt', message: 'Flagged.' } }), 'Flagged.'],
    [
      'openrouter/a/b',
      told(403, { error: { code: 403, message: 'Your input was flagged' } }),
      'Your input was flagged',
    ],
  ]
  for (const [model, reply, words] of cases) {
    const events = await eventsOf(tapped({ model }, tap([reply])), hello)
    assert.equal(events.map((event) => (event.type === 'text' ? event.delta : '')).join(''), words)
    const last = events.at(-1)!
    assert.equal(last.type === 'end' && last.stop, 'refused', JSON.stringify(events))
  }
})

test('an answer that was as long as it may be ends with its length', async () => {
  const cases: [string, object[]][] = [
    [models.anthropic, [{ type: 'message_delta', delta: { stop_reason: 'max_tokens' } }, { type: 'message_stop' }]],
    [models.chat, [{ choices: [{ delta: { content: 'a' }, finish_reason: 'length' }] }]],
    [models.gemini, [{ candidates: [{ finishReason: 'MAX_TOKENS' }] }]],
    [
      models.responses,
      [{ type: 'response.incomplete', response: { incomplete_details: { reason: 'max_output_tokens' } } }],
    ],
  ]
  for (const [model, events] of cases) {
    const last = (await eventsOf(tapped({ model }, tap([{ chunks: [sse(...events)] }])), hello)).at(-1)!
    assert.equal(last.type === 'end' && last.stop, 'length')
  }
})

test('a call whose input is no JSON comes as it was written', async () => {
  const call = { index: 0, id: 'c', function: { name: 'ls', arguments: '{"path": ' } }
  const reply = {
    chunks: [sse({ choices: [{ delta: { tool_calls: [call] }, finish_reason: 'tool_calls' }] }, '[DONE]')],
  }
  assert.deepEqual(await eventsOf(tapped({ model: models.chat }, tap([reply])), hello), [
    { type: 'call', id: 'c', tool: 'ls', input: '{"path": ' },
    { type: 'end', stop: 'calls' },
  ])
})

test('an option that a server does not know is left out from then on', async () => {
  const unknown = told(400, { error: { message: 'Unrecognized request argument supplied: stream_options' } })
  const one = tap([unknown, ok])
  const model = tapped({ model: 'compatible/any', baseURL: 'http://127.0.0.1:9/v1/' }, one, { key: () => undefined })
  for (let i = 0; i < 2; i++) assert.deepEqual(await eventsOf(model, hello), yes)
  assert.deepEqual(
    one.sent.map(({ url, headers, body }) => [url, 'authorization' in headers, 'stream_options' in JSON.parse(body)]),
    [true, false, false].map((told) => ['http://127.0.0.1:9/v1/chat/completions', false, told]),
  )
})
