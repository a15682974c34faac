import { test } from 'node:test'
import assert from 'node:assert/strict'
import { until } from '../until.ts'
import { asked, chatWith } from './kept-claude.ts'
import { keys } from './program-window.ts'

const options = { timeout: 120_000 }

test('the chat keeps the process of its agent for the next turns, and ends it when it is left', options, async (t) => {
  const { open, running } = chatWith(t)
  const window = await open()
  const processes = [await asked(window, 'first', 1), await asked(window, 'second', 2), await asked(window, 'third', 3)]
  assert.equal(new Set(processes).size, 1)
  window.type(keys.ctrlD)
  await window.exited
  assert.deepEqual(await running(), [])
})

test('a chat that is killed leaves no process of an agent', options, async (t) => {
  const { open, running } = chatWith(t)
  const window = await open()
  await asked(window, 'first', 1)
  window.pty.kill('SIGKILL')
  await window.exited
  await until(async () => (await running()).length === 0)
})

test('after a reset, and if the setting says so, a turn begins in a new process', options, async (t) => {
  const { open } = chatWith(t)
  const window = await open()
  const first = await asked(window, 'first', 1)
  window.type('/reset\r')
  await window.shows('new session began')
  const second = await asked(window, 'second', 1)
  const cold = await chatWith(t, { idleAgentMinutes: 0 }).open()
  const third = await asked(cold, 'first', 1)
  const fourth = await asked(cold, 'second', 1)
  assert.deepEqual([first === second, third === fourth], [false, false])
})

test('after an undo and a redo on the command line, a turn of the chat begins in a new process', options, async (t) => {
  const { machine, open } = chatWith(t)
  const window = await open()
  const processes = [await asked(window, 'write a new file', 1)]
  for (const command of ['undo', 'redo']) {
    const { code } = await machine.run([command, '--yes'])
    processes.push(await asked(window, `after the ${command}`, 1))
    assert.equal(code, 0)
  }
  assert.deepEqual([new Set(processes).size, await asked(window, 'and then', 2)], [3, processes[2]])
})
