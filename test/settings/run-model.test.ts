import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { agentForModel } from '../../src/settings/agent-settings.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const cli = (profile: string, more: object = {}) => ({ name: profile, profile, contextWindowTokens: 1000, ...more })
const agents = [
  cli('claude', { effort: 'low' }),
  cli('codex'),
  cli('copilot', { enabled: false }),
  { name: 'mine', command: 'cat', contextWindowTokens: 1000 },
  { name: 'own', kind: 'native', model: 'openai/gpt-5', contextWindowTokens: 1000 },
]

test('--model is for the agent that -a names, for the only one, or for the only one that knows it', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'termaite-test-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const read = async (name: string, agent: string | undefined, of: object[] = agents) => {
    writeFileSync(join(home, 'settings.json'), JSON.stringify({ agents: of }))
    const settings = await readSettings({ home }, { env: {}, model: { name, agent } })
    const models = settings.agents.flatMap((one) => (one.model === undefined ? [] : [`${one.name} ${one.model}`]))
    return [agentForModel(settings.agents, name, agent).name, ...models]
  }
  const usual = 'own openai/gpt-5'
  assert.deepEqual(await read('some-model', 'codex'), ['codex', 'codex some-model', usual])
  assert.deepEqual(await read('opus', undefined), ['claude', 'claude opus', usual])
  assert.deepEqual(await read('opus', 'auto'), ['claude', 'claude opus', usual])
  assert.deepEqual(await read('groq/x', 'own'), ['own', 'own groq/x'])
  assert.deepEqual(await read('some-model', undefined, [cli('codex')]), ['codex', 'codex some-model'])
  const refused: string[] = []
  for (const [name, agent, of] of [
    ['some-model', undefined],
    ['opus', 'nobody'],
    ['opus', 'copilot'],
    ['opus', 'mine'],
    ['big', 'own'],
    ['--yolo', 'claude'],
    ['opus', undefined, []],
  ] as const)
    refused.push(
      await read(name, agent, of && [...of]).then(
        () => 'nothing was refused',
        (error: Error) => error.message,
      ),
    )
  golden(t, refused)
})
