import type { TestContext } from 'node:test'
import type { App } from '../../src/turn/app.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { prepareAgent } from '../../src/app/foreseen-turn.ts'
import { TrustBook } from '../../src/safety/trust/folder-trust.ts'
import { labelledProcesses } from '../base/alive.ts'
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
  const { desk, until } = await sitDown(
    t,
    folder,
    { plain: 'echo hello' },
    { path: pathOf(bin), agents: [claude], wishes },
  )
  const running = async () => (await labelledProcesses(label)).length
  return {
    desk,
    until,
    project: join(folder, 'project'),
    /** Whether the agent runs once its start was foreseen. */
    async starts(name = 'claude', change: Partial<App> = {}): Promise<boolean> {
      await prepareAgent({ ...desk.app(), ...change }, { name, aimed: false })
      return (await running()) > 0
    },
  }
}

test('an agent is started ahead in a folder that nothing steers, and only once', async (t) => {
  const { starts } = await chat(t)
  assert.deepEqual([await starts('plain'), await starts(), await starts()], [false, true, true])
})

test('a run that keeps no agents starts none ahead, and neither does a coordinator', async (t) => {
  const [cold, coordinator] = [await chat(t, {}), await chat(t)]
  assert.deepEqual([await cold.starts(), await coordinator.starts('claude', { mode: 'coordinator' })], [false, false])
})

test('nothing is started ahead before the person trusts what steers agents in the folder', async (t) => {
  const { starts, project, desk } = await chat(t)
  mkdirSync(join(project, '.claude'))
  writeFileSync(join(project, '.claude', 'settings.json'), '{"hooks":{}}')
  const before = await starts()
  const { store, place } = desk.app()
  const book = new TrustBook(store, { own: place.home })
  await book.trust(place.root, (await book.of(place.root)).mark)
  assert.deepEqual([before, await starts()], [false, true])
})

test('nothing is started ahead before the person shares the conversation with the agent', async (t) => {
  const { starts, desk } = await chat(t)
  desk.controls.aim('plain')
  desk.submit('hello')
  await desk.idle()
  const { settings } = desk.app()
  const asks = await starts('claude', { settings: { ...settings, sharing: 'ask' } })
  assert.deepEqual([asks, await starts('claude', { settings: { ...settings, sharing: 'all' } })], [false, true])
})
