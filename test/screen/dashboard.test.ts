import { test } from 'node:test'
import assert from 'node:assert/strict'
import { Machine } from '../cli/program.ts'
import { until } from '../until.ts'
import { runningProcesses } from '../../src/border/running-processes.ts'
import { ProgramWindow, keys } from './program-window.ts'

for (const [how, leave] of [
  ['is left', (window: ProgramWindow) => window.type(keys.ctrlD)],
  ['is killed', (window: ProgramWindow) => window.pty.kill('SIGKILL')],
] as const)
  test(`the hub that /dashboard started is gone once the chat ${how}`, { timeout: 120_000 }, async (t) => {
    const machine = new Machine(t)
    machine.agents({ a: 'cat >/dev/null; echo "It is done."' })
    const window = new ProgramWindow(machine)
    t.after(() => window.end())
    await window.shows('Ask anything')
    window.type('/dashboard\r')
    const screen = await window.shows('termaite stop hub')
    const [, url = ''] = /(http:\/\/\S+)\/#in=/.exec(screen) ?? []
    assert.equal((await fetch(url)).status, 200)
    // The screen takes keys meanwhile.
    window.type('go\r')
    await window.shows('It is done.')
    const hubs = () => runningProcesses(machine.home, Date.now()).filter(({ process: kind }) => kind === 'hub')
    assert.deepEqual(
      hubs().map(({ url: at }) => at),
      [url],
    )
    leave(window)
    await window.exited
    await until(() => hubs().length === 0)
    await until(() =>
      fetch(url).then(
        () => false,
        () => true,
      ),
    )
  })
