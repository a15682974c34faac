import type { DeskControls } from '../../src/desk/desk-controls.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { openKeys } from '../../src/safety/api-keys.ts'
import { connectCommand } from '../../src/desk/slash/agents/connect.ts'
import { effortCommand, modelCommands } from '../../src/desk/slash/agents/model.ts'
import { seated, type Seat } from '../app/seat.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const own = (more: object = {}) => ({ name: 'own', kind: 'native', contextWindowTokens: 100_000, ...more })
const native = { agents: [own()] }

/** Keys in the file of the test's own home: the keychain of the person who runs the tests must not be touched. */
const inFile: typeof openKeys = ({ home, env }) => openKeys({ home, env, keychain: null })

async function connect(seat: Seat, args = '') {
  const before = seat.said.length
  await connectCommand(seat.controls, inFile)
    .run(args, seat.world)
    .catch((error: Error) => void seat.said.push(['error', error.message]))
  return seat.said.slice(before)
}

const kept = (seat: Seat) => JSON.parse(readFileSync(join(seat.home, 'credentials.json'), 'utf8')) as unknown

test('/connect asks for the provider and the key, keeps it, says where, and never repeats it', async (t) => {
  const seat = await seated(t, native)
  seat.app.out.set('own', { kind: 'auth', message: 'no key' })
  seat.answers.push(['groq'], ['  gsk-made-up '])
  golden(t, await connect(seat))
  assert.deepEqual(kept(seat), { groq: 'gsk-made-up' })
  assert.equal(statSync(join(seat.home, 'credentials.json')).mode & 0o777, 0o600)
  assert.deepEqual([...seat.app.out], [], 'who was out for want of it is asked again')
  golden(t, seat.asked)
})

test('/connect says when the environment goes first, and forgets a key', async (t) => {
  const seat = await seated(t, native, { OPENAI_API_KEY: 'of-the-environment' })
  seat.answers.push(['sk-1'])
  golden(t, await connect(seat, 'openai'))
  assert.deepEqual(await connect(seat, 'openai forget'), [['note', 'The stored key of OpenAI was deleted.']])
  assert.deepEqual(kept(seat), {})
  golden(t, await connect(seat, 'openai forget'))
})

test('/connect repeats nothing that may be a key, and a card that is left keeps nothing', async (t) => {
  const seat = await seated(t, native)
  golden(t, await connect(seat, 'sk-typed-here'))
  golden(t, await connect(seat, 'groq sk-typed-here'))
  golden(t, await connect(seat, 'ollama'))
  seat.answers.push(['two words'], undefined, undefined)
  golden(t, await connect(seat, 'groq'))
  assert.deepEqual([await connect(seat, 'groq'), await connect(seat)], [[], []])
  assert.throws(() => kept(seat), { code: 'ENOENT' })
})

type Answers = Record<string, object | number>

/** Providers that answer what the test says, and the requests that they saw. */
function web(answers: Answers) {
  const seen: [string, string | null][] = []
  const fetch: typeof globalThis.fetch = async (url, init) => {
    seen.push([String(url), new Headers(init?.headers).get('authorization')])
    const answer = answers[String(url)]
    if (answer === undefined) throw new TypeError('fetch failed')
    return typeof answer === 'number' ? new Response('{}', { status: answer }) : Response.json(answer)
  }
  return { fetch, seen }
}

async function models(seat: Seat, args = '', answers: Answers = {}) {
  const before = seat.said.length
  const { fetch, seen } = web(answers)
  await modelCommands(seat.controls, { fetch, open: inFile })[1]!
    .run(args, seat.world)
    .catch((error: Error) => void seat.said.push(['error', error.message]))
  return { said: seat.said.slice(before), seen }
}

const groq = {
  'https://api.groq.com/openai/v1/models': { data: [{ id: 'small', context_window: 8192 }, { id: 'big' }] },
}
const ollama = { 'http://127.0.0.1:11434/api/tags': { models: [{ name: 'qwen3:8b' }] } }

test('/models lists what the providers with a key and this machine have, and sets what is picked', async (t) => {
  const seat = await seated(t, native, { GROQ_API_KEY: 'made-up' })
  seat.answers.push(['groq'], ['small'])
  const { said, seen } = await models(seat, '', { ...groq, ...ollama })
  golden(t, said)
  assert.deepEqual(seat.turned, [['model', 'own', { model: 'groq/small', window: 8192 }]])
  assert.deepEqual(
    seen.filter(([, key]) => key !== null),
    [['https://api.groq.com/openai/v1/models', 'Bearer made-up']],
    'no other provider is told the key',
  )
  assert.deepEqual(seat.asked, [
    {
      about: 'choice',
      text: 'Which provider? Now: groq/openai/gpt-oss-120b.',
      from: [],
      options: [
        { id: 'groq', label: 'Groq (2 models)' },
        { id: 'ollama', label: 'Ollama (1 model)' },
      ],
      unanswered: 'change nothing',
    },
    {
      about: 'choice',
      text: 'Which model of Groq should own use? Now: groq/openai/gpt-oss-120b.',
      from: [],
      options: [
        { id: 'big', label: 'big' },
        { id: 'small', label: 'small (8,192 tokens)' },
      ],
      unanswered: 'change nothing',
    },
  ])
})

test('/models: with one provider there is one card, and a provider that gives no list is named', async (t) => {
  const seat = await seated(t, native, { GROQ_API_KEY: 'made-up' })
  seat.answers.push(['qwen3:8b'])
  const { said } = await models(seat, '', { ...ollama, 'https://api.groq.com/openai/v1/models': 401 })
  assert.equal(said.length, 2)
  golden(t, said[0]![1])
  assert.doesNotMatch(said[0]![1], /made-up/)
  assert.deepEqual(seat.turned, [['model', 'own', { model: 'ollama/qwen3:8b' }]], 'no window is asked of this machine')
  assert.deepEqual((await models(seat, '', { ...groq, ...ollama })).said, [], 'a card that is left changes nothing')
})

test('/models of an agent with an address of its own asks there, with its own key', async (t) => {
  const agents = [own({ model: 'compatible/x', baseURL: 'http://there/v1', apiKeyEnv: 'THERE' })]
  const seat = await seated(t, { agents }, { THERE: 'made-up' })
  seat.answers.push(['y'])
  const { seen } = await models(seat, '', { 'http://there/v1/models': { data: [{ id: 'y', context_length: 9000 }] } })
  assert.deepEqual(
    seen.filter(([url]) => !url.startsWith('http://127.0.0.1')),
    [['http://there/v1/models', 'Bearer made-up']],
  )
  assert.deepEqual(seat.turned, [['model', 'own', { model: 'compatible/y', window: 9000 }]])
})

test('/models says what to do where no key is known for the model that was chosen', async (t) => {
  const seat = await seated(t, { agents: [own({})] }, { OPENAI_API_KEY: 'made-up' })
  const said = async (args: string) => (await models(seat, args)).said.slice(1)
  golden(t, await said('anthropic/claude-sonnet-4-5'))
  assert.deepEqual(await said('openai/gpt-5'), [])
  assert.deepEqual(await said('ollama/qwen3'), [])
})

test('/models takes how hard to think, with a model or alone; it stays when the model changes', async (t) => {
  const seat = await seated(t, { agents: [own({ effort: 'low' })] })
  const said = async (args: string) => (await models(seat, args)).said[0]
  golden(t, await said('openai/gpt-5 high'))
  golden(t, await said('max'))
  golden(t, await said('openai/gpt-5'))
  golden(t, await said('openai/gpt-4o high'))
  assert.deepEqual(await said('openai/gpt-5 hihg'), ['error', 'there is no effort "hihg"; did you mean "high"?'])
  assert.deepEqual(seat.turned, [
    ['model', 'own', { model: 'openai/gpt-5', window: 400_000, effort: 'high' }],
    ['model', 'own', { model: 'groq/openai/gpt-oss-120b', effort: 'max' }],
    ['model', 'own', { model: 'openai/gpt-5', window: 400_000, effort: 'low' }],
  ])
})

test('/models takes a typed name; wrong and missing ones are refused with words', async (t) => {
  const seat = await seated(t, { agents: [own(), own({ name: 'other', model: 'openai/gpt-x' })] })
  seat.answers.push(['other'])
  golden(t, (await models(seat, 'ollama/qwen3:8b')).said)
  assert.deepEqual(seat.asked[0]?.options, [
    { id: 'own', label: 'own (groq/openai/gpt-oss-120b)' },
    { id: 'other', label: 'other (openai/gpt-x)' },
  ])
  assert.deepEqual((await models(seat, 'ollama/qwen3:8b')).said, [], 'a card that is left changes nothing')
  const alone = await seated(t, native)
  assert.deepEqual((await models(alone, 'groq')).said, [['error', 'groq names no model; write groq/<model>.']])
  golden(t, (await models(alone)).said)
  const [[how, words] = ['', '']] = (await models(await seated(t, { agents: [] }))).said
  golden(t, [how, words])
})

const cli = (profile: string, more: object = {}) => ({ name: profile, profile, contextWindowTokens: 100_000, ...more })
const vendors = {
  agents: [
    cli('claude'),
    cli('codex', { model: 'gpt-6-luna', effort: 'low' }),
    cli('gemini', { kind: 'acp' }),
    { name: 'mine', command: 'cat', contextWindowTokens: 100_000 },
    cli('amp'),
    own(),
  ],
}

/** Types a line; returns the answers, the cards and the settings that followed. */
async function line(seat: Seat, name: 'model' | 'effort', args: string, ...answer: (string[] | undefined)[]) {
  const [said, asked, turned] = [seat.said.length, seat.asked.length, seat.turned.length]
  seat.answers.push(...answer)
  const command = name === 'model' ? modelCommands(seat.controls, { open: inFile })[0]! : effortCommand(seat.controls)
  await command.run(args, seat.world).catch((error: Error) => void seat.said.push(['error', error.message]))
  seat.answers.splice(0)
  return {
    line: `/${name} ${args}`,
    said: seat.said.slice(said),
    asked: seat.asked.slice(asked),
    set: seat.turned.slice(turned),
  }
}

test('/model and /effort are for any agent: the one that is named, and any name that its CLI may know', async (t) => {
  const seat = await seated(t, vendors)
  golden(t, await line(seat, 'model', 'claude opus'))
  golden(t, await line(seat, 'model', 'claude some-new-name high'))
  golden(t, await line(seat, 'model', 'codex max'))
  golden(t, await line(seat, 'model', 'gemini gemini-2.5-pro'))
  golden(t, await line(seat, 'model', 'own openai/gpt-5'))
  golden(t, await line(seat, 'effort', 'codex max'))
  golden(t, await line(seat, 'effort', 'claude none'))
  golden(t, await line(seat, 'model', 'codex default'))
})

test('/effort that is typed right behind /model keeps the model that was just chosen', async (t) => {
  const seat = await seated(t, vendors)
  const set: unknown[] = []
  const controls: DeskControls = {
    ...seat.controls,
    setModel(agent, choice) {
      set.push([agent, choice])
      const agents = seat.app.settings.agents.map((one) => (one.name === agent ? { ...one, ...choice } : one))
      seat.app = { ...seat.app, settings: { ...seat.app.settings, agents } }
    },
  }
  await Promise.all([
    modelCommands(controls)[0]!.run('claude opus', seat.world),
    effortCommand(controls).run('claude high', seat.world),
  ])
  assert.deepEqual(set, [
    ['claude', { model: 'opus' }],
    ['claude', { model: 'opus', effort: 'high' }],
  ])
})

test('/model and /effort without a word ask on a card that says which agent it is for, and takes any name', async (t) => {
  const seat = await seated(t, vendors)
  golden(t, await line(seat, 'model', 'claude', ['sonnet']))
  golden(t, await line(seat, 'model', 'codex', ['a-typed-name']))
  golden(t, await line(seat, 'model', 'codex', ['default']))
  golden(t, await line(seat, 'model', '', ['claude'], undefined))
  golden(t, await line(seat, 'effort', 'codex', ['high']))
})

test('an agent that can be given no model or no effort says so, and names the next step', async (t) => {
  const seat = await seated(t, vendors)
  for (const [name, args] of [
    ['model', 'mine big'],
    ['model', 'amp'],
    ['effort', 'mine high'],
    ['effort', 'amp high'],
    ['effort', 'claude hihg'],
    ['effort', 'claude high more'],
    ['model', 'claude opus high more'],
    ['model', 'claude --dangerously-skip-permissions'],
    ['model', 'own big'],
  ] as const)
    golden(t, await line(seat, name, args))
  golden(t, await line(await seated(t, { agents: [] }), 'model', 'opus'))
})

test('/model completes agents and the models that are known of them', async (t) => {
  const seat = await seated(t, vendors)
  assert.deepEqual(await seat.complete('model', 'o'), ['opus', 'opusplan', 'own'])
  assert.deepEqual(await seat.complete('model', 'codex gpt-6-l'), ['codex gpt-6-luna'])
  assert.deepEqual(await seat.complete('effort', 'codex x'), ['codex xhigh'])
})
