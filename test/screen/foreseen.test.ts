import { test } from 'node:test'
import assert from 'node:assert/strict'
import { until } from '../until.ts'
import { chatWith } from './kept-claude.ts'
import { keys } from './program-window.ts'

const options = { timeout: 120_000 }

const claude = (name: string) => ({ name, profile: 'claude', contextWindowTokens: 200_000 })

/** Types one key, and returns the process that is started by it. */
async function started({ agents }: ReturnType<typeof chatWith>, type: () => void, but?: number): Promise<number> {
  type()
  let found: number[] = []
  await until(async () => (found = await agents()).length === 1 && found[0] !== but)
  return found[0]!
}

test('the agent of the next turn is started at the first key, and answers the prompt', options, async (t) => {
  const chat = chatWith(t)
  const window = await chat.open()
  const before = await chat.agents()
  const pid = await started(chat, () => window.type('f'))
  window.type('irst\r')
  await window.shows(`answer 1 of process ${pid}.`)
  assert.deepEqual([before, await chat.agents()], [[], [pid]])
  await window.shows('─ claude ·')
  window.type(keys.ctrlD)
  await window.exited
  assert.deepEqual(await chat.running(), [])
})

test('an agent that will not have the turn is stopped, and the one that will is started', options, async (t) => {
  const chat = chatWith(t, { agents: [claude('claude'), claude('second')] })
  const window = await chat.open()
  const first = await started(chat, () => window.type('f'))
  window.type(`${keys.ctrlU}/switch second\r`)
  await until(async () => (await chat.agents()).length === 0)
  const second = await started(chat, () => window.type('g'))
  window.type('o\r')
  await window.shows(`answer 1 of process ${second}.`)
  await window.shows('─ second ·')
  assert.notEqual(first, second)
})

test('a leash that was changed while the person types holds for the process that is started', options, async (t) => {
  const chat = chatWith(t, { leash: 'ask' })
  const window = await chat.open()
  const first = await started(chat, () => window.type('f'))
  const second = await started(chat, () => window.type(keys.shiftTab), first)
  window.type('irst\r')
  await window.shows(`answer 1 of process ${second}.`)
})

test('a chat that is left or killed while the person types leaves no process', options, async (t) => {
  const left = chatWith(t)
  const window = await left.open()
  await started(left, () => window.type('f'))
  window.type(`${keys.ctrlU}${keys.ctrlD}`)
  await window.exited
  const killed = chatWith(t)
  const other = await killed.open()
  await started(killed, () => other.type('f'))
  other.pty.kill('SIGKILL')
  await other.exited
  await until(async () => (await killed.running()).length === 0)
  assert.deepEqual(await left.running(), [])
})
