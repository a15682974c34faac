import type { TestContext } from 'node:test'
import type { AgentSettings } from '../../src/settings/agent-settings.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { killLabelled, labelledProcesses } from '../base/alive.ts'
import { HandClock } from '../hand-clock.ts'
import { keptClaude } from '../screen/kept-claude.ts'
import { pathOf } from '../system-path.ts'
import { until } from '../until.ts'
import { closings, folderOf, sitDown } from './desk.ts'

const limit = { timeout: 60_000 }
const second = 1_000
const minute = 60 * second

/** A desk whose clock is turned by hand, and whose agent is a stand-in for Claude Code. */
async function foreseeing(t: TestContext) {
  const folder = folderOf(t)
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'claude'), keptClaude, { mode: 0o755 })
  const label = `label-${crypto.randomUUID()}`
  t.after(() => killLabelled(label))
  const claude: AgentSettings = {
    name: 'claude',
    kind: 'pipe',
    profile: 'claude',
    contextWindowTokens: 200_000,
    env: { LABEL: label },
  }
  const clock = new HandClock()
  const wishes = { keepsAgents: true } as const
  const { desk, heard } = await sitDown(t, folder, {}, { clock, path: pathOf(bin), agents: [claude], wishes })
  const agents = async () =>
    (await labelledProcesses(label)).filter(({ command }) => command.includes(bin)).map(({ pid }) => pid)
  return {
    desk,
    clock,
    heard,
    agents,
    /** Types the first key of a prompt, and returns the process that is started by it. */
    async started(): Promise<number> {
      desk.typed('h')
      return (await until(async () => (await agents()).length === 1 && agents()))[0]!
    },
    /** Waits until no agent runs; the end of a process may wait for the clock. */
    ended: () => until(async () => (await clock.turn(0), (await agents()).length === 0)),
  }
}

test('an agent that was started for a prompt ends once the input has been empty for a minute', limit, async (t) => {
  const { desk, clock, agents, started, ended } = await foreseeing(t)
  const pid = await started()
  desk.typed('')
  await clock.turn(minute - 1)
  assert.deepEqual(await agents(), [pid])
  await clock.turn(1)
  await ended()
})

test('a prompt that is begun again within the minute gets the same agent, which then waits on', limit, async (t) => {
  const { desk, clock, agents, started } = await foreseeing(t)
  const pid = await started()
  desk.typed('')
  await clock.turn(59 * second)
  desk.typed('a')
  await clock.turn(5 * minute)
  assert.deepEqual(await agents(), [pid])
})

test('an agent whose prompt is never sent ends after the idle time, as after a turn', limit, async (t) => {
  const { clock, agents, started, ended } = await foreseeing(t)
  const pid = await started()
  await clock.turn(10 * minute - 1)
  assert.deepEqual(await agents(), [pid])
  await clock.turn(1)
  await ended()
})

test('an agent that has taken a turn outlives the empty input, and ends after the idle time', limit, async (t) => {
  const { desk, clock, heard, agents, started, ended } = await foreseeing(t)
  const pid = await started()
  desk.typed('')
  desk.submit('hello')
  await until(async () => (await clock.turn(0), closings(heard).length === 1))
  await clock.turn(5 * minute)
  assert.deepEqual(await agents(), [pid])
  await clock.turn(5 * minute)
  await ended()
})

test('a desk that is closed during the minute leaves no agent', limit, async (t) => {
  const { desk, clock, agents, started } = await foreseeing(t)
  await started()
  desk.typed('')
  await clock.turn(second)
  await desk.close()
  assert.deepEqual(await agents(), [])
})
