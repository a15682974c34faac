import { test } from 'node:test'
import { ProgramWindow, keys } from './program-window.ts'
import { looks } from './looks.ts'
import { talkers } from './machine.ts'
import { Sitting, rested } from './sitting.ts'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../until.ts'

const options = { timeout: 120_000 }

/** The greeting names the time of the last request. */
const timeless = (row: string) => row.replace(/\d{4}-\d\d-\d\d \d\d:\d\d/, '2026-11-15 11:00')

test(
  'an answer that was cancelled or killed stays on the screen, and a restart shows it with what cut it off',
  options,
  async (t) => {
    const { machine } = talkers(t)
    const opened = async () => {
      const window = new ProgramWindow(machine, looks.dark)
      t.after(() => window.end())
      const sitting = new Sitting(window, 'dark', timeless)
      await sitting.begun()
      return { window, sitting }
    }
    const first = await opened()
    first.window.type('stream please\r')
    await first.sitting.shows('The first half', /[⠋⠙⠸⠴⠦⠇] alpha/)
    first.window.type(keys.escape)
    await first.sitting.framed('cut-off', [
      'The first half',
      '(cut off by you)',
      '■ alpha was cancelled',
      rested('0 tokens'),
    ])

    first.window.type('stream please\r')
    const side = machine.file('shown')
    await until(() => existsSync(side) && readdirSync(side).some((name) => statSync(join(side, name)).size > 0))
    first.window.pty.kill('SIGKILL')
    await first.window.exited
    const second = await opened()
    await second.sitting.framed('cut-off-restarted', [
      '(cut off by you)',
      '(cut off by a crash)',
      'Last request',
      'Ready: alpha',
      rested('tokens'),
    ])
  },
)
