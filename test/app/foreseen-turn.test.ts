import type { TestContext } from 'node:test'
import type { App } from '../../src/turn/app.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { prepareAgent } from '../../src/app/foreseen-turn.ts'
import { TrustBook } from '../../src/safety/trust/folder-trust.ts'
import { labelledProcesses } from '../base/alive.ts'
import { until } from '../until.ts'
import { pathOf } from '../system-path.ts'
import type { Seating } from '../desk/desk.ts'
import type { AgentSettings } from '../../src/settings/agent-settings.ts'
import { folderOf, sitDown } from '../desk/desk.ts'
import { keptClaude } from '../screen/kept-claude.ts'

/** A chat with a stand-in for Claude Code and a plain command, and what it takes to start the stand-in ahead of its turn. */
async function chat(t: TestContext, wishes: Seating['wishes'] = { keepsAgents: true }) {
  const folder = folderOf(t)
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'claude'), keptClaude, { mode: 0o755 })
  const label = `label-${crypto.randomUUID()}`
  const claude: AgentSettings = {
    name: 'claude',
    kind: 'pipe',
    profile: 'claude',
    contextWindowTokens: 200_000,
    env: { LABEL: label },
  }
  const { desk } = await sitDown(t, folder, { plain: 'echo hello' }, { path: pathOf(bin), agents: [claude], wishes })
  return {
    desk,
    project: join(folder, 'project'),
    prepare: (name: string, change: Partial<App> = {}) =>
      prepareAgent({ ...desk.app(), ...change }, { name, aimed: false }),
    running: async () => (await labelledProcesses(label)).length,
  }
}

/** Waits until the system shows the one process that was started. */
const oneRuns = (running: () => Promise<number>) => until(async () => (await running()) === 1)

test('an agent is started ahead in a folder that nothing steers, and only once', async (t) => {
  const { prepare, running } = await chat(t)
  await prepare('plain')
  const before = await running()
  await prepare('claude')
  await oneRuns(running)
  await prepare('claude')
  assert.deepEqual([before, await running()], [0, 1])
})

test('a run that keeps no agents starts none ahead, and neither does a coordinator', async (t) => {
  const [cold, chatting] = [await chat(t, {}), await chat(t)]
  await cold.prepare('claude')
  await chatting.prepare('claude', { mode: 'coordinator' })
  assert.deepEqual([await cold.running(), await chatting.running()], [0, 0])
})

test('nothing is started ahead before the person trusts what steers agents in the folder', async (t) => {
  const { prepare, running, project, desk } = await chat(t)
  mkdirSync(join(project, '.claude'))
  writeFileSync(join(project, '.claude', 'settings.json'), '{"hooks":{}}')
  await prepare('claude')
  const before = await running()
  const { store, place } = desk.app()
  const book = new TrustBook(store, { own: place.home })
  await book.trust(place.root, (await book.of(place.root)).mark)
  await prepare('claude')
  await oneRuns(running)
  assert.equal(before, 0)
})

test('nothing is started ahead before the person shares the conversation with the agent', async (t) => {
  const { prepare, running, desk } = await chat(t)
  desk.controls.aim('plain')
  desk.submit('hello')
  await desk.idle()
  const { settings } = desk.app()
  await prepare('claude', { settings: { ...settings, sharing: 'ask' } })
  const before = await running()
  await prepare('claude', { settings: { ...settings, sharing: 'all' } })
  await oneRuns(running)
  assert.equal(before, 0)
})
