import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Machine } from '../cli/program.ts'
import { ProgramWindow, keys } from './program-window.ts'

const options = { timeout: 120_000 }

/** An agent that says half, waits until it may go on, and leaves its process id behind. */
function slow(t: TestContext) {
  const machine = new Machine(t)
  const [go, pid] = [join(machine.folder, 'go'), join(machine.folder, 'pid')]
  machine.agents({
    slow: `cat >/dev/null; echo $$ > ${pid}; echo 'the first half'; until [ -e ${go} ]; do sleep 0.02; done; echo 'the second half'`,
  })
  return {
    machine,
    goOn: () => writeFileSync(go, ''),
    agentLives: () => existsSync(`/proc/${readFileSync(pid, 'utf8').trim()}`),
  }
}

function open(t: TestContext, machine: Machine, args: string[] = []): ProgramWindow {
  const window = new ProgramWindow(machine, { args })
  t.after(() => window.end())
  return window
}

test('leaving restores the terminal, and prints the last answer and the command to resume', options, async (t) => {
  const { machine, goOn } = slow(t)
  goOn()
  const window = open(t, machine, ['say it'])
  await window.shows(/─ slow/)
  assert.equal(window.emulator.buffer.active.type, 'alternate')
  window.type('/exit\r')
  assert.deepEqual(await window.exited, { exitCode: 0, signal: 0 })
  assert.equal(window.emulator.buffer.active.type, 'normal')
  assert.equal(
    window.scrollback(),
    `● slow\n  the first half\n  the second half\nContinue with: termaite --cwd ${machine.project}`,
  )
})

test('leaving does not wait for an agent that is out of quota', options, async (t) => {
  const machine = new Machine(t)
  machine.agents({
    spent: 'cat >/dev/null; echo "Error: usage limit reached, try again in 3 hours" >&2; exit 1',
    able: 'cat >/dev/null; echo here',
  })
  assert.equal((await machine.run(['-p', 'hi'])).code, 0)
  for (const leave of ['/exit\r', keys.ctrlC + keys.ctrlC, keys.ctrlD]) {
    const window = open(t, machine)
    await window.shows(/spent ○/)
    window.type(leave)
    assert.equal((await window.exited).exitCode, 0)
  }
})

test('two Ctrl+C cancel the turn and leave; nothing of it is left', options, async (t) => {
  const { machine, agentLives } = slow(t)
  const window = open(t, machine, ['say it'])
  await window.shows('the first half')
  assert.equal(agentLives(), true)
  window.type(keys.ctrlC + keys.ctrlC)
  await window.exited
  assert.equal(agentLives(), false)
  assert.equal(window.emulator.buffer.active.type, 'normal')
  assert.deepEqual(machine.kept(), [
    ['prompt', 'user', 'say it'],
    ['verdict', 'termaite', ''],
    ['words', 'slow', 'the first half'],
    ['end', 'rotation', 'aborted'],
  ])
})

test(
  'a closed terminal lets the turn finish; the next chat shows the turn, and then its answer',
  options,
  async (t) => {
    const { machine, goOn, agentLives } = slow(t)
    const first = open(t, machine, ['say it'])
    await first.shows('the first half')
    first.close()
    const second = open(t, machine)
    await second.shows('the first half')
    assert.equal(agentLives(), true)
    goOn()
    await second.shows(/the second half[^]*─ slow/)
    assert.deepEqual(await first.exited, { exitCode: 0, signal: 0 })
    assert.deepEqual(machine.kept(), [
      ['prompt', 'user', 'say it'],
      ['reply', 'slow', 'the first half\nthe second half'],
      ['verdict', 'slow', ''],
      ['end', 'rotation', 'ok'],
    ])
  },
)

test('a turn whose terminal was closed can be cancelled from the next chat', options, async (t) => {
  const { machine, agentLives } = slow(t)
  const first = open(t, machine, ['say it'])
  await first.shows('the first half')
  first.pty.kill('SIGHUP')
  const second = open(t, machine)
  await second.shows('the first half')
  second.type(keys.escape)
  await first.exited
  assert.equal(agentLives(), false)
  await second.shows(/cancelled/)
})

test('an uncaught error gives the terminal back, ends all processes, and says how to go on', options, async (t) => {
  const { machine, agentLives } = slow(t)
  const fault = join(machine.folder, 'fault.mjs')
  writeFileSync(fault, `process.on('SIGUSR2', () => { throw new Error('it broke on purpose') })`)
  const window = new ProgramWindow(machine, { args: ['say it'], env: { NODE_OPTIONS: `--import=${fault}` } })
  t.after(() => window.end())
  await window.shows('the first half')
  window.pty.kill('SIGUSR2')
  assert.deepEqual(await window.exited, { exitCode: 1, signal: 0 })
  assert.equal(window.emulator.buffer.active.type, 'normal')
  assert.equal(window.emulator.modes.mouseTrackingMode, 'none')
  assert.equal(agentLives(), false)
  assert.equal(
    window.scrollback().replaceAll('\n', ' '),
    [
      'termaite: the chat crashed: it broke on purpose. The conversation is kept.',
      `Continue with: termaite --cwd ${machine.project}`,
    ].join(' '),
  )
})
