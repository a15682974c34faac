import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasNoEffort, knownOf, modelWindow, useOwnRows } from '../../src/models/model-windows.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const home = () => mkdtempSync(join(tmpdir(), 'termaite-models-'))

async function read(files: Record<string, string>, more: object = {}) {
  const place = home()
  for (const [name, text] of Object.entries(files)) writeFileSync(join(place, name), text)
  try {
    return await readSettings({ home: place }, { env: {}, ...more })
  } catch (error) {
    throw new Error((error as Error).message.replaceAll(place, '~'), { cause: error })
  } finally {
    rmSync(place, { recursive: true })
  }
}

test('models.json adds models and changes only the named fields of known ones', async (t) => {
  t.after(() => useOwnRows({}))
  const before = knownOf('openai', 'gpt-6-sol')
  const models = `{
    // A model that came out after this version of termaite.
    "openai/gpt-7.1-nova": { "window": 500000, "thinks": "effort", "edits": "edits", "price": { "input": 3, "cached": 0.3, "output": 12 } },
    "openai/gpt-6-sol": { "price": { "input": 1, "cached": 0.1, "output": 4 } },
  }`
  await read({ 'models.json': models })
  assert.deepEqual(structuredClone(knownOf('openai', 'gpt-7.1-nova-2027-01-02')), {
    window: 500_000,
    thinks: 'effort',
    edits: 'edits',
    price: { input: 3, cached: 0.3, output: 12 },
  })
  assert.equal(modelWindow('openai/gpt-7.1-nova'), 500_000)
  assert.deepEqual(structuredClone(knownOf('openai', 'gpt-6-sol')), {
    ...before,
    price: { input: 1, cached: 0.1, output: 4 },
  })
})

test('a models.json with faults is refused with the line, the key, and what is allowed', async (t) => {
  const models = `{
    "openai/gpt-7": { "window": "large" },
    "nobody/x": { "window": 5 },
    "openai/gpt-8": { "prize": 1, "thinks": "hard" }
  }`
  await golden.rejects(t, read({ 'models.json': models }))
})

const agent = (model: string, more: object = {}) => ({
  name: 'own',
  kind: 'native',
  model,
  contextWindowTokens: 9000,
  ...more,
})
const settings = (...agents: object[]) => ({ 'settings.json': JSON.stringify({ agents }) })

test('--effort is given to agents that have levels, and refused where none has', async (t) => {
  const { agents } = await read(settings(agent('openai/gpt-6-sol')), { effort: 'high' })
  assert.deepEqual(agents, [agent('openai/gpt-6-sol', { effort: 'high' })])
  await golden.rejects(t, read(settings(agent('openai/gpt-4o')), { effort: 'high' }))
  await assert.rejects(
    read(settings(agent('openai/gpt-6-sol')), { effort: 'hard' }),
    /effort: found "hard", allowed: none/,
  )
  await assert.rejects(read(settings(), { effort: 'high' }), /the settings have none/)
  const mixed = [agent('openai/gpt-4o'), agent('compatible/new', { name: 'other' })]
  assert.deepEqual((await read(settings(...mixed), { effort: 'low' })).agents, [
    mixed[0],
    { ...mixed[1], effort: 'low' },
  ])
  const { warnings } = await read(settings(agent('openai/gpt-4o', { effort: 'low' })))
  golden(t, warnings)
  assert.deepEqual(
    ['openai/gpt-4.1', 'groq/llama-3.3-70b-versatile', 'openai/gpt-9', 'compatible/gpt-4o-x', 'ollama/x'].map(
      hasNoEffort,
    ),
    [true, true, false, false, false],
  )
})

test('--effort reaches the CLIs that have an option for it, and the others are named', async (t) => {
  const cli = (profile: string, more: object = {}) => ({ name: profile, profile, contextWindowTokens: 9000, ...more })
  const all = [
    cli('claude'),
    cli('gemini'),
    cli('codex', { kind: 'acp' }),
    { name: 'own', command: 'own -p', contextWindowTokens: 9000 },
  ]
  const { agents, warnings } = await read(settings(...all), { effort: 'high' })
  assert.deepEqual(
    agents.map(({ name, effort }) => [name, effort]),
    [
      ['claude', 'high'],
      ['gemini', undefined],
      ['codex', 'high'],
      ['own', undefined],
    ],
  )
  golden(t, warnings)
  await golden.rejects(t, read(settings(cli('gemini')), { effort: 'high' }))
  const written = await read(settings(cli('claude', { effort: 'low' }), cli('qwen', { effort: 'low' })))
  assert.deepEqual(
    written.agents.map(({ effort }) => effort),
    ['low', 'low'],
  )
  golden(t, written.warnings)
})
