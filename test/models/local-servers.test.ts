import { test } from 'node:test'
import assert from 'node:assert/strict'
import { HandClock } from '../hand-clock.ts'
import { listModels } from '../../src/models/open/model-list.ts'
import { localServers } from '../../src/models/open/local-servers.ts'
import { secret, tap } from './tap.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const json = (body: unknown, status = 200) => ({
  status,
  headers: { 'content-type': 'application/json' },
  chunks: [JSON.stringify(body)],
})

test('the servers that answer on loopback are found with their models; a web server on the same port is none', async () => {
  const answers: Record<string, unknown> = {
    'http://127.0.0.1:11434/api/tags': { models: [{ name: 'qwen3:8b', model: 'qwen3:8b' }] },
    'http://127.0.0.1:1234/api/v0/models': {
      data: [
        { id: 'qwen2.5-coder', type: 'llm', max_context_length: 32_768, loaded_context_length: 8192 },
        { id: 'nomic', type: 'embeddings', max_context_length: 2048 },
      ],
    },
    'http://127.0.0.1:1234/v1/models': { data: [{ id: 'qwen2.5-coder' }, { id: 'nomic' }] },
    'http://127.0.0.1:8080/v1/models': { data: [{ id: 'gemma.gguf', owned_by: 'llamacpp' }] },
    'http://127.0.0.1:8080/props': { default_generation_settings: { n_ctx: 4096 } },
  }
  const found = (known: Record<string, unknown>) =>
    localServers(new HandClock(), tap((url) => (url in known ? json(known[url]) : { refuse: 'ECONNREFUSED' })).fetch)
  const ollama = {
    provider: 'ollama',
    label: 'Ollama',
    baseURL: 'http://127.0.0.1:11434/v1',
    models: [{ id: 'qwen3:8b' }],
  }
  assert.deepEqual(await found(answers), [
    ollama,
    {
      provider: 'lmstudio',
      label: 'LM Studio',
      baseURL: 'http://127.0.0.1:1234/v1',
      models: [{ id: 'qwen2.5-coder', window: 8192 }],
    },
    {
      provider: 'llamacpp',
      label: 'llama.cpp',
      baseURL: 'http://127.0.0.1:8080/v1',
      models: [{ id: 'gemma.gguf', window: 4096 }],
    },
  ])
  assert.deepEqual(
    await found({
      ...answers,
      'http://127.0.0.1:8080/v1/models': { data: [{ id: 'a blog' }] },
      'http://127.0.0.1:1234/api/v0/models': 'hello',
      'http://127.0.0.1:1234/v1/models': [],
    }),
    [ollama],
  )
  assert.deepEqual(await found({}), [])
})

test('a server that says nothing is waited for 300 ms', async () => {
  const clock = new HandClock()
  const servers = localServers(clock, tap([{ then: 'hang' }]).fetch)
  let done = false
  void servers.then(() => (done = true))
  await clock.turn(299)
  assert.equal(done, false)
  await clock.turn(1)
  assert.deepEqual(await servers, [])
})

test('each provider lists its models in its own way', async () => {
  const clock = new HandClock()
  const ask = async (provider: Parameters<typeof listModels>[0], body: unknown, baseURL?: string) => {
    const one = tap([json(body)])
    const list = await listModels(provider, secret, { clock, fetch: one.fetch, ...(baseURL ? { baseURL } : {}) })
    const { url, headers } = one.sent[0]!
    return { ...list, url, key: Object.entries(headers).find(([, value]) => value.includes(secret))?.[0] }
  }
  assert.deepEqual(await ask('anthropic', { data: [{ id: 'claude-b', max_input_tokens: 7 }, { id: 'claude-a' }] }), {
    models: [{ id: 'claude-a' }, { id: 'claude-b', window: 7 }],
    url: 'https://api.anthropic.com/v1/models?limit=1000',
    key: 'x-api-key',
  })
  assert.deepEqual(
    await ask('google', {
      models: [
        { name: 'models/gemini-x', inputTokenLimit: 9, supportedGenerationMethods: ['generateContent'] },
        { name: 'models/embedder', supportedGenerationMethods: ['embedContent'] },
      ],
    }),
    {
      models: [{ id: 'gemini-x', window: 9 }],
      url: 'https://generativelanguage.googleapis.com/v1beta/models?pageSize=1000',
      key: 'x-goog-api-key',
    },
  )
  assert.deepEqual(await ask('groq', { data: [{ id: 'openai/gpt-oss-120b', context_window: 131_072 }] }), {
    models: [{ id: 'openai/gpt-oss-120b', window: 131_072 }],
    url: 'https://api.groq.com/openai/v1/models',
    key: 'authorization',
  })
  assert.deepEqual(await ask('compatible', { data: [] }, 'http://127.0.0.1:9/v1/'), {
    models: [],
    url: 'http://127.0.0.1:9/v1/models',
    key: 'authorization',
  })
})

test('a list of models that fails says why', async (t) => {
  const clock = new HandClock()
  const ask = (reply: Parameters<typeof json>) =>
    listModels('groq', secret, { clock, fetch: tap([json(...reply)]).fetch })
  golden(t, await ask([{ error: { message: `bad ${secret}` } }, 401]))
  assert.deepEqual(await ask([{ hello: true }]), {
    failure: { kind: 'crash', message: 'Groq failed: it listed no models' },
  })
  golden(t, await listModels('compatible', undefined, { clock }))
})
