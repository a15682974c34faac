import type { TestContext } from 'node:test'
import type { Profile } from '../../src/core/profile/profile.ts'
import type { Question } from '../../src/core/talk/question.ts'
import type { Wall } from '../../src/safety/wall/wall.ts'
import type { LocalServer } from '../../src/models/open/local-servers.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HandClock } from '../hand-clock.ts'
import { profileNamed } from '../../src/profiles/all.ts'
import { cliOffer } from '../../src/people/offers/agent-offers.ts'
import { runSetup } from '../../src/desk/setup.ts'
import { openKeys } from '../../src/safety/api-keys.ts'
import { providers } from '../../src/models/provider.ts'
import { knownOf } from '../../src/models/model-windows.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

type Models = { env?: Record<string, string>; servers?: LocalServer[]; sandbox?: boolean }

/** A machine with these CLIs and models, and somebody who answers so; no answer left means that they leave. */
function machine(t: TestContext, installed: readonly string[], answers: string[][], models: Models = {}) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-test-')))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const [bin, home] = [join(folder, 'bin'), join(folder, 'termaite')]
  mkdirSync(bin)
  for (const name of installed) writeFileSync(join(bin, name), '#!/bin/sh\n', { mode: 0o755 })
  const said: [string, string][] = []
  const asked: Question[] = []
  const env = { PATH: bin, HOME: folder, ...models.env }
  const world = {
    say: (text: string, how: 'note' | 'error' = 'note') => void said.push([how, text]),
    ask: async (question: Question) => {
      asked.push(question)
      return answers.shift()
    },
    env,
    cwd: home,
    home,
    sources: { keys: openKeys({ home, env, keychain: null }), servers: async () => models.servers ?? [] },
    wall: wallThat(models.sandbox ?? false),
    clock: new HandClock(),
    signal: new AbortController().signal,
  }
  return { home, said, asked, run: () => runSetup(world) }
}

const wallThat = (stands: boolean): Wall => ({
  none: async () => (stands ? undefined : 'it rains'),
  wrap: async () => assert.fail('setup runs no command'),
})

const written = (home: string) =>
  JSON.parse(readFileSync(join(home, 'settings.json'), 'utf8')) as Record<string, unknown>

const agent = (name: string, more: object = {}) => ({
  name,
  profile: name,
  ...(profileNamed(name)!.dialect?.().asks !== true && profileNamed(name)!.acp ? { kind: 'acp' } : {}),
  contextWindowTokens: profileNamed(name)!.window,
  ...more,
})

test('with one CLI the setup asks only for the leash, and the meaning of each stands beside it', async (t) => {
  const { home, asked, said, run } = machine(t, ['claude'], [['edit']])
  assert.equal(await run(), 'written')
  assert.deepEqual(written(home), {
    $schema: './settings.schema.json',
    rotationStrategy: 'exhaustion',
    leash: 'edit',
    agents: [agent('claude')],
  })
  golden(t, asked)
  golden(t, said[0]![1])
  golden(t, said.slice(2), { [home]: '<home>' })
})

test('one card asks which agents and in what order; agents that were not chosen are written down switched off', async (t) => {
  const { home, asked, run } = machine(
    t,
    ['claude', 'gemini', 'codex', 'qwen'],
    [['codex', 'claude', 'gemini'], ['ask']],
  )
  assert.equal(await run(), 'written')
  assert.deepEqual(written(home).agents, [
    agent('codex'),
    agent('claude'),
    agent('gemini'),
    agent('qwen', { enabled: false }),
  ])
  golden(
    t,
    asked.map(({ text }) => text),
  )
  golden(t, asked[0])
})

for (const answers of [[], [['codex', 'claude']], [['claude'], ['ask']], [['claude'], ['ask'], ['leave']]])
  test(`leaving the setup at question ${answers.length + 1} changes nothing (${answers.flat().join(' ')})`, async (t) => {
    const { home, said, run } = settled(t, ['claude', 'codex'], answers, '{}')
    assert.equal(await run(), 'left')
    assert.deepEqual([readdirSync(home), said.at(-1)], [['settings.json'], ['note', 'Nothing was changed.']])
    assert.deepEqual(written(home), {})
  })

test('settings that are there are replaced after a yes, and kept', async (t) => {
  const { home, asked, said, run } = machine(t, ['claude'], [['ask'], ['replace']])
  mkdirSync(home)
  writeFileSync(join(home, 'config.yaml'), 'leash: read\n')
  assert.equal(await run(), 'written')
  golden(t, asked.at(-1)?.text, { [home]: '<home>' })
  assert.deepEqual(readdirSync(home), [
    'config.yaml.2026-11-15T12-00-00-000Z.bak',
    'settings.json',
    'settings.schema.json',
  ])
  golden(t, said.at(-1)?.[1], { [home]: '<home>' })
})

const mine = `{
  // My own agents.
  "leash": "all",
  "rotationStrategy": "random",
  "agents": [
    { "name": "amber", "command": "cat", "contextWindowTokens": 1000 }, // the quiet one
    { "name": "work", "profile": "claude", "leash": "read", "contextWindowTokens": 200000 },
    { "name": "qwen", "profile": "qwen", "enabled": false, "contextWindowTokens": 1000 }
  ],
  "permissions": { "deny": ["bash(rm:*)"] },
  "mcpServers": { "demo": { "command": "x", "env": { "DEMO_TOKEN": "planted-7f31c09e" } } },
}
`

/** A machine with settings of its own, on which these CLIs are installed. */
function settled(t: TestContext, installed: readonly string[], answers: string[][], text = mine) {
  const here = machine(t, installed, answers)
  mkdirSync(here.home)
  const file = join(here.home, 'settings.json')
  writeFileSync(file, text)
  return { ...here, file, text: () => readFileSync(file, 'utf8') }
}

test('a second CLI is added to settings that are there, and everything else in them stays', async (t) => {
  const { home, asked, said, run, text } = settled(
    t,
    ['claude', 'qwen', 'codex'],
    [['amber', 'work', 'codex'], ['all'], ['change']],
  )
  assert.equal(await run(), 'written')
  const added = [
    '    { "name": "qwen", "profile": "qwen", "enabled": false, "contextWindowTokens": 1000 },',
    ...JSON.stringify(agent('codex'), null, 2)
      .split('\n')
      .map((line) => `    ${line}`),
  ]
  assert.equal(
    text(),
    mine.replace(/.*"qwen".*/, () => added.join('\n')),
  )
  golden(t, asked[0])
  const { enter, options } = asked[1]!
  assert.deepEqual(
    [enter, options.slice(2)],
    [
      'all',
      [
        { id: 'read', label: 'read: read only' },
        { id: 'all', label: 'all: everything (as now)' },
      ],
    ],
  )
  golden(t, said[0]![1])
  const [shown] = asked[2]!.shows!
  golden(t, [asked[2]!.text, shown!.type, JSON.stringify(shown).includes('planted-7f31c09e')], { [home]: '<home>' })
  const copy = 'settings.json.2026-11-15T12-00-00-000Z.bak'
  assert.deepEqual(readdirSync(home), ['settings.json', copy, 'settings.schema.json'])
  assert.equal(readFileSync(join(home, copy), 'utf8'), mine)
  golden(t, said.at(-1)?.[1], { [home]: '<home>' })
})

test('another order, an agent that takes no turns any more and another leash are changed in settings that are there', async (t) => {
  const { run, text } = settled(t, ['claude', 'qwen'], [['qwen', 'work'], ['edit'], ['change']])
  assert.equal(await run(), 'written')
  const amber = { name: 'amber', command: 'cat', contextWindowTokens: 1000, enabled: false }
  const work = { name: 'work', profile: 'claude', leash: 'read', contextWindowTokens: 200_000 }
  const qwen = { name: 'qwen', profile: 'qwen', contextWindowTokens: 1000 }
  const list = JSON.stringify([qwen, work, amber], null, 2).replaceAll('\n', '\n  ')
  assert.equal(
    text(),
    mine.replace('"leash": "all"', '"leash": "edit"').replace(/"agents": \[[^]*?\n {2}\]/, () => `"agents": ${list}`),
  )
})

test('settings that say all of it already stay as they are, and no question is asked about them', async (t) => {
  const { home, asked, said, run, text } = settled(t, ['claude', 'qwen'], [['amber', 'work'], ['all']])
  assert.equal(await run(), 'written')
  assert.deepEqual([text(), readdirSync(home), asked.length], [mine, ['settings.json'], 2])
  golden(t, said.at(-1)?.[1], { [home]: '<home>' })
})

test('settings that somebody changes while the question is open are not written over', async (t) => {
  const { file, asked, run, text } = settled(t, ['claude', 'codex'], [['codex'], ['ask'], ['change']])
  const push = asked.push.bind(asked)
  asked.push = (question) => {
    if (question.about === 'permission') writeFileSync(file, `${mine}\n`)
    return push(question)
  }
  await golden.rejects(t, run(), { [file]: '<file>' })
  assert.equal(text(), `${mine}\n`)
})

for (const [what, text] of Object.entries({
  'have a fault': '{ "leash": "loose" }',
  'are no JSON': '{',
  'name their agents by keys': '{ "agents": { "amber": { "command": "cat" } } }',
}))
  test(`settings that ${what} are replaced after a yes, and kept`, async (t) => {
    const { home, file, asked, run } = settled(t, ['claude'], [['ask'], ['replace']], text)
    assert.equal(await run(), 'written')
    golden(t, asked.at(-1)?.text, { [home]: '<home>' })
    assert.deepEqual(written(home).agents, [agent('claude')])
    assert.equal(readFileSync(`${file}.2026-11-15T12-00-00-000Z.bak`, 'utf8'), text)
  })

test('with nothing installed the setup asks nothing, and names programs to install', async (t) => {
  const { home, asked, said, run } = machine(t, [], [])
  assert.equal(await run(), 'nothing found')
  assert.deepEqual([asked, existsSync(home), said.map(([how]) => how)], [[], false, ['error']])
  assert.match(said[0]![1], /npm install -g @anthropic-ai\/claude-code.*termaite demo$/s)
})

test('the channel is one that can ask: a CLI’s own stream, else ACP, else a one-way pipe', () => {
  const known = profileNamed('claude')!
  const { acp: _acp, ...plain } = known
  const oneWay: Profile = { ...plain, dialect: () => ({ open: () => '', line: () => [], end: () => [] }) }
  const acp = { leashes: { ask: 'asks' }, command: () => 'x --acp' } as unknown as NonNullable<Profile['acp']>
  const asking: Profile = { ...plain, dialect: () => ({ asks: true, open: () => '', line: () => [], end: () => [] }) }
  const kindOf = (profile: Profile, leash: 'ask' | 'edit') => cliOffer(profile, {}).settings(leash).kind
  assert.deepEqual(
    [
      kindOf(oneWay, 'ask'),
      kindOf({ ...oneWay, acp }, 'ask'),
      kindOf({ ...asking, acp }, 'ask'),
      kindOf({ ...oneWay, acp }, 'edit'),
    ],
    [undefined, 'acp', undefined, undefined],
    'and one that can be held to the leash',
  )
})

const sonnet = {
  name: 'anthropic',
  kind: 'native',
  model: 'anthropic/claude-sonnet-5-5',
  contextWindowTokens: 1_000_000,
}

const qwen: LocalServer = {
  provider: 'ollama',
  label: 'Ollama',
  baseURL: 'http://127.0.0.1:11434/v1',
  models: [{ id: 'nomic-embed-text' }, { id: 'qwen3:8b' }],
}

const local = { name: 'ollama', kind: 'native', model: 'ollama/qwen3:8b', contextWindowTokens: 32_768, ownView: true }

test('our own agent is offered on a key and on a local model; beside a CLI it is written down switched off', async (t) => {
  const models = { env: { ANTHROPIC_API_KEY: 'made-up-key' }, servers: [qwen] }
  const { home, asked, said, run } = machine(t, ['claude'], [['claude'], ['ask']], models)
  assert.equal(await run(), 'written')
  assert.deepEqual(written(home).agents, [agent('claude'), { ...sonnet, enabled: false }, { ...local, enabled: false }])
  assert.deepEqual(asked[0]!.options, [
    { id: 'claude', label: 'Claude Code' },
    { id: 'anthropic', label: 'termaite on Anthropic' },
    { id: 'ollama', label: 'termaite on Ollama' },
  ])
  assert.deepEqual(asked[0]!.marked, ['claude'])
  golden(t, said[0]![1])
  assert.ok(!JSON.stringify([said, asked, written(home)]).includes('made-up-key'))
})

test('our own agent takes turns when it is picked, and where there is no other one', async (t) => {
  const models = { env: { ANTHROPIC_API_KEY: 'made-up-key' }, servers: [qwen] }
  const picked = machine(t, ['claude'], [['claude', 'anthropic'], ['ask']], models)
  assert.equal(await picked.run(), 'written')
  assert.deepEqual(written(picked.home).agents, [agent('claude'), sonnet, { ...local, enabled: false }])
  const alone = machine(t, [], [['anthropic', 'ollama'], ['ask']], models)
  assert.equal(await alone.run(), 'written')
  assert.deepEqual(written(alone.home).agents, [sonnet, local])
  assert.deepEqual(alone.asked[0]!.marked, ['anthropic', 'ollama'])
})

test('the model that a new agent is given is one that is known', () => {
  for (const [name, provider] of Object.entries(providers))
    if ('usual' in provider && name !== 'openrouter') assert.ok(knownOf(name, provider.usual).price, name)
})

test('with a sandbox, our own agent is offered to work inside without asking; without one, setup says so', async (t) => {
  const models = { env: { ANTHROPIC_API_KEY: 'made-up-key' } }
  const leashes = async (sandbox: boolean, answers: string[][]) => {
    const { home, asked, said, run } = machine(t, ['claude'], [['claude', 'anthropic'], ...answers], {
      ...models,
      sandbox,
    })
    await run()
    const { leash, agents } = written(home) as { leash: string; agents: { name: string; leash?: string }[] }
    return {
      leashes: [leash, ...agents.map((one) => one.leash)],
      asked: asked.map(({ text }) => text).slice(2),
      said: said.map(([, text]) => text.replace(home, '<home>')).filter((text) => /sandbox|Wrote/.test(text)),
    }
  }
  golden(t, await leashes(true, [['ask'], ['edit']]))
  assert.deepEqual((await leashes(true, [['ask'], ['ask']])).leashes, ['ask', undefined, undefined])
  assert.deepEqual((await leashes(true, [['read']])).asked, [])
  golden(t, await leashes(false, [['ask']]))
})

test('setup says what the sandbox of this machine means also where only CLIs are chosen', async (t) => {
  const said = async (sandbox: boolean) => {
    const one = machine(t, ['claude'], [['edit']], { sandbox })
    await one.run()
    return one.said[1]
  }
  golden(t, [await said(true), await said(false)])
})
