import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Tap } from './tap.ts'
import { eventsOf, still, hello, tap, tapped } from './tap.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const json = (body: unknown, status = 200) => ({
  status,
  headers: { 'content-type': 'application/json' },
  chunks: [JSON.stringify(body)],
})

type Server = { show?: unknown; status?: number; ps?: unknown; done?: object }

function server({ show = {}, status = 200, ps = { models: [] }, done = {} }: Server): Tap {
  const last = {
    message: { role: 'assistant', content: 'yes' },
    done: true,
    done_reason: 'stop',
    prompt_eval_count: 20,
    eval_count: 2,
    ...done,
  }
  return tap((url) =>
    url.endsWith('/api/show')
      ? json(show, status)
      : url.endsWith('/api/ps')
        ? json(ps)
        : { chunks: [`${JSON.stringify(last)}\n`] },
  )
}

const ask = (one: Tap, spec: object = {}) =>
  tapped({ model: 'ollama/qwen3', ...spec }, one, { key: () => undefined, clock: still })
const chats = (one: Tap) => one.sent.filter(({ url }) => url.endsWith('/api/chat')).map(({ body }) => JSON.parse(body))

test('the context is asked for, within what the model has, and asked about once', async () => {
  const one = server({
    show: {
      model_info: { 'general.architecture': 'qwen3', 'qwen3.context_length': 8192 },
      capabilities: ['completion', 'tools'],
    },
  })
  const model = ask(one, { window: 16_384, effort: 'high' })
  assert.equal(model.window, 16_384)
  for (let i = 0; i < 2; i++)
    assert.deepEqual(await eventsOf(model, hello), [
      { type: 'text', delta: 'yes' },
      { type: 'usage', usage: { input: 20, output: 2, source: 'reported' } },
      { type: 'end', stop: 'done' },
    ])
  assert.equal(model.window, 8192)
  assert.deepEqual(
    chats(one).map(({ options, think }) => ({ options, think })),
    [1, 2].map(() => ({ options: { num_ctx: 8192 }, think: undefined })),
  )
  assert.equal(one.sent.filter(({ url }) => url.endsWith('/api/show')).length, 1)
  assert.ok(one.sent.every(({ url }) => url.startsWith('http://127.0.0.1:11434/api/')))
})

test('no more context is asked for than was wanted, however much the model has', async () => {
  const one = server({ show: { model_info: { 'qwen3.context_length': 262_144 } } })
  await eventsOf(ask(one), hello)
  assert.deepEqual(chats(one)[0].options, { num_ctx: 32_768 })
})

test('a model that thinks is told so, and one with levels is told the level', async () => {
  const think = async (family: string, effort: string) => {
    const one = server({ show: { details: { family }, capabilities: ['thinking'] } })
    await eventsOf(ask(one, { effort }), hello)
    return chats(one)[0].think
  }
  assert.deepEqual(
    [
      await think('qwen3', 'low'),
      await think('qwen3', 'none'),
      await think('gptoss', 'max'),
      await think('gptoss', 'none'),
    ],
    [true, false, 'high', 'low'],
  )
})

test('an input that Ollama cut without a word is an overflow', async () => {
  const kind = async (one: Tap, spec: object = {}, request = hello) => {
    const last = (await eventsOf(ask(one, spec), request)).at(-1)!
    return last.type === 'failure' ? last.failure.kind : last
  }
  assert.equal(await kind(server({ done: { prompt_eval_count: 4096 } }), { window: 4096 }), 'overflow')
  assert.equal(
    await kind(server({ done: { prompt_eval_count: 4000, eval_count: 96, done_reason: 'length' } }), { window: 4096 }),
    'overflow',
    'no room was left for the answer',
  )
  const less = { models: [{ name: 'qwen3:latest', model: 'qwen3:latest', context_length: 2048 }] }
  const loaded = server({ ps: less, done: { prompt_eval_count: 2048 } })
  assert.equal(await kind(loaded), 'overflow', 'the server loaded it with less than was asked for')
})

test('a request that surely does not fit is not sent', async (t) => {
  const one = server({})
  const long = { ...hello, messages: [{ role: 'user' as const, text: 'x'.repeat(20_000) }] }
  golden(t, await eventsOf(ask(one, { window: 4096 }), long))
  assert.deepEqual(chats(one), [])
})

test('a model that is not there is missing, with the command that gets it', async (t) => {
  golden(t, await eventsOf(ask(server({ status: 404, show: { error: "model 'qwen3' not found" } })), hello))
})
