import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import type { LocalServer } from '../../src/models/open/local-servers.ts'
import { openKeys } from '../../src/safety/api-keys.ts'
import { nativeOffers, sourcesOf } from '../../src/people/offers/agent-offers.ts'
import { HandClock } from '../hand-clock.ts'
import { cloudHome } from '../models/cloud-rig.ts'
import { fallbackNative, withFallback } from '../../src/people/offers/fallback-agent.ts'
import { plain, seated } from '../app/seat.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** A person without an agent of our own, with these keys and these servers. */
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
  golden(t, spare)
  const settings = withFallback(both.app.settings, spare)
  assert.deepEqual([settings.agents.at(-1), settings.warnings.at(-1)], [spare.agent, spare.words])
  assert.equal(await fallbackNative(settings, 'agent', { io: both.app.io, place: both.app.place }), undefined)
  const one = await lacking(t, { ANTHROPIC_API_KEY: 'made-up' })
  assert.equal((await one.spare('agent'))?.agent.model, 'anthropic/claude-sonnet-5-5')
  // An agent of another program can plan.
  assert.equal(await one.spare('plan'), undefined)
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

test('without any model the person is told what to do', async (t) => {
  const { spare } = await lacking(t, {})
  await golden.rejects(t, spare('agent'))
})

test('setup offers a cloud whose login is found; without being asked, only a key for its models is used', async (t) => {
  const keys = '[default]\naws_access_key_id = AKID\naws_secret_access_key = made-up\nregion = eu-west-1\n'
  const HOME = cloudHome({ '.aws/credentials': keys })
  const world = { env: { HOME, TERMAITE_KEYCHAIN: 'off' }, home: HOME, clock: new HandClock() }
  const sources = { ...sourcesOf(world), servers: async () => [] }
  const offers = await nativeOffers(sources, world.env)
  golden(
    t,
    offers.map(({ name, title, words, aside }) => ({ name, title, words, aside })),
    { [HOME]: '<HOME>' },
  )
  const { io, app } = await seated(t, cli, world.env)
  const place = { io, place: app.place }
  await assert.rejects(fallbackNative(app.settings, 'agent', place, sources), { name: 'UsageError' })
  const env = { ...world.env, AWS_BEARER_TOKEN_BEDROCK: 'made-up' }
  const keyed = { ...sourcesOf({ ...world, env }), servers: async () => [] }
  const spare = await fallbackNative(app.settings, 'agent', { ...place, io: { ...io, env } }, keyed)
  assert.equal(spare?.agent.model, 'bedrock/global.anthropic.claude-sonnet-4-6')
})
