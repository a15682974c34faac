import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import type { LocalServer } from '../../src/models/local-servers.ts'
import { openKeys } from '../../src/safety/api-keys.ts'
import { fallbackNative, withFallback } from '../../src/app/offers/fallback-agent.ts'
import { plain, seated } from './seat.ts'

/** Somebody without an agent of our own, with these keys and these servers. */
async function lacking(t: TestContext, env: Record<string, string>, servers: LocalServer[] = [], settings = cli) {
  const { io, app, home } = await seated(t, settings, env)
  let looked = 0
  const keys = openKeys({ home, env, keychain: null })
  const sources = { keys, servers: async () => (looked++, servers) }
  const spare = (mode: 'chat' | 'agent' | 'plan') =>
    fallbackNative(app.settings, mode, { io, place: app.place }, sources)
  return { app, keys, spare, looked: () => looked }
}

const cli = plain({ amber: 'cat' })

test('a mode of our own agents works without one configured: on the usual model, else where there is a key', async (t) => {
  const both = await lacking(t, { ANTHROPIC_API_KEY: 'made-up', GROQ_API_KEY: 'made-up' })
  assert.equal(await both.spare('chat'), undefined)
  const spare = (await both.spare('agent'))!
  assert.deepEqual(spare, {
    agent: { name: 'groq', kind: 'native', model: 'groq/openai/gpt-oss-120b', contextWindowTokens: 131_072 },
    words: 'No native agent is configured, so groq uses groq/openai/gpt-oss-120b. Run `termaite setup` to keep it.',
  })
  const settings = withFallback(both.app.settings, spare)
  assert.deepEqual([settings.agents.at(-1), settings.warnings.at(-1)], [spare.agent, spare.words])
  assert.equal(await fallbackNative(settings, 'agent', { io: both.app.io, place: both.app.place }), undefined)
  const one = await lacking(t, { ANTHROPIC_API_KEY: 'made-up' })
  assert.equal((await one.spare('plan'))?.agent.model, 'anthropic/claude-sonnet-5-5')
  assert.equal(both.looked() + one.looked(), 0, 'no server is looked for where there is a key')
})

test('a key that was put away counts, then a server of this machine; a name that is taken is not used twice', async (t) => {
  const named = await lacking(t, {}, [], plain({ openai: 'cat' }))
  await named.keys.put('openai', 'made-up')
  assert.deepEqual((await named.spare('agent'))?.agent.name, 'native')
  const models = [{ id: 'embed-x' }, { id: 'qwen3', window: 32_768 }]
  const server: LocalServer = { provider: 'ollama', label: 'Ollama', baseURL: 'http://127.0.0.1:11434/v1', models }
  const local = await lacking(t, {}, [server])
  assert.deepEqual((await local.spare('agent'))?.agent.model, 'ollama/qwen3')
})

test('without any model it is said what to do', async (t) => {
  const { spare } = await lacking(t, {})
  await assert.rejects(spare('agent'), {
    message:
      'the mode agent needs a model for termaite’s own agent, and there is none. Set GROQ_API_KEY to use groq/openai/gpt-oss-120b, or set ANTHROPIC_API_KEY or OPENAI_API_KEY or GEMINI_API_KEY or OPENROUTER_API_KEY or AWS_BEARER_TOKEN_BEDROCK, or start a model server on this machine. `termaite setup` helps.',
  })
})
