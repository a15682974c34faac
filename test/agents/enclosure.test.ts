import type { Argv, Enclose } from '../../src/agents/enclosure.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { screenAgent } from '../../src/agents/screen/screen-agent.ts'
import type { TerminalHost } from '../../src/core/screen/terminal.ts'
import { scriptedTerminals } from '../terminals/scripted-terminals.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventsOf, turnOf } from '../contract/agent.ts'
import { ground, running as acpRunning } from './acp-rig.ts'
import { failureIn, piped, running } from './pipe-rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** A wall that only notes which programs it was built for and which it was taken down for. */
function noted(built: (argv: Argv) => void = () => {}) {
  const up: string[] = []
  const down: string[] = []
  const enclose: Enclose = async (argv) => {
    up.push(argv[0])
    built(argv)
    return { argv, vars: {}, settle: async () => (down.push(argv[0]), []) }
  }
  return { enclose, up, down }
}

const cancelled = { kind: 'aborted', message: 'sayer was cancelled' }

test('a turn that is cancelled while its wall is built ends the command, and the wall is taken down', async () => {
  const stop = new AbortController()
  const wall = noted(() => stop.abort())
  const agent = piped({ command: 'sleep 77' }, { enclose: wall.enclose })
  assert.deepEqual(failureIn(await eventsOf(agent, turnOf({ signal: stop.signal }))), cancelled)
  assert.deepEqual([wall.up, wall.down, await running()], [['bash'], ['bash'], []])
})

test('the command of an agent that speaks ACP is enclosed too', async () => {
  await using it = await ground()
  const stop = new AbortController()
  const wall = noted(() => stop.abort())
  const agent = it.agent({ steps: [{ hang: 'deaf' }] }, {}, 'ask', { enclose: wall.enclose })
  assert.deepEqual(failureIn(await eventsOf(agent, turnOf({ cwd: it.cwd, signal: stop.signal }))), cancelled)
  await agent.close()
  assert.deepEqual([wall.up, wall.down, await acpRunning()], [[process.execPath], [process.execPath], []])
})

test('the wall of a command that an ACP agent asks for is taken down when it cannot be started', async () => {
  await using it = await ground()
  const wall = noted()
  const create = { command: '/no/such/program', args: ['x'] }
  const steps = [{ request: 'terminal/create' as const, params: create, fails: true }, { say: 'Done.' }]
  const agent = it.agent({ steps }, {}, 'all', { enclose: wall.enclose })
  assert.equal(failureIn(await eventsOf(agent, turnOf({ cwd: it.cwd, leash: 'all' }))), undefined)
  await agent.close()
  assert.deepEqual(
    [wall.up, wall.down],
    [
      [process.execPath, '/no/such/program'],
      ['/no/such/program', process.execPath],
    ],
  )
})

test('the wall of a command that an ACP agent asks for is taken down when the turn is cancelled meanwhile', async () => {
  await using it = await ground()
  const stop = new AbortController()
  const wall = noted(([program]) => program === 'sleep' && stop.abort())
  const steps = [{ request: 'terminal/create' as const, params: { command: 'sleep', args: ['77'] }, fails: true }]
  const agent = it.agent({ steps: [...steps, { hang: true }] }, {}, 'all', { enclose: wall.enclose })
  const events = await eventsOf(agent, turnOf({ cwd: it.cwd, leash: 'all', signal: stop.signal }))
  assert.deepEqual(failureIn(events), cancelled)
  await agent.close()
  assert.deepEqual(
    [wall.up, wall.down.toSorted(), await acpRunning()],
    [[process.execPath, 'sleep'], [process.execPath, 'sleep'].toSorted(), []],
  )
})

test('the wall of a program in a terminal is taken down when no terminal can be opened', async (t) => {
  const cwd = mkdtempSync(join(tmpdir(), 'termaite-screen-'))
  t.after(() => rmSync(cwd, { recursive: true }))
  const wall = noted()
  const host: TerminalHost = {
    ...scriptedTerminals(() => async () => 0, realClock),
    open: () => Promise.reject(new Error('no room for a terminal')),
  }
  const spec = { name: 'sayer', command: 'sayer', window: 1000, timeoutMs: 60_000, silenceMs: 30_000 }
  const parts = { host: async () => host, clock: realClock, home: cwd, env: {}, temp: cwd, enclose: wall.enclose }
  const agent = screenAgent(spec, { cwd, leash: 'all' }, parts)
  golden(t, failureIn(await eventsOf(agent, turnOf({ cwd, leash: 'all' }))))
  await agent.close()
  assert.deepEqual([wall.up, wall.down], [['bash'], ['bash']])
})
