import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { ground, noTmux } from './real.ts'

const source = join(import.meta.dirname, '..', '..', 'src')

test(
  'a terminal that is first watched after its host was closed does not keep the process from its end',
  { skip: noTmux, timeout: 30_000 },
  async (t) => {
    const { cwd, env, socket, terminals } = ground('tmux', t)
    const script = `
      const { tmuxHost } = await import('${source}/terminals/tmux/tmux-host.ts')
      const { realClock } = await import('${source}/base/time/clock.ts')
      const host = tmuxHost({ env: process.env, clock: realClock, folder: ${JSON.stringify(terminals)}, socket: '${socket}' })
      await host.open('sleep 60', { cwd: ${JSON.stringify(cwd)}, id: 'it' })
      let found
      while (!(found = await host.find('it'))) await realClock.sleep(10)
      await host.close()
      void found.exited
      console.log('closed')
    `
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { env, stdio: ['ignore', 'pipe', 2] })
    t.after(() => child.kill('SIGKILL'))
    const [line] = (await once(child.stdout!, 'data')) as [Buffer]
    assert.equal(String(line), 'closed\n')
    assert.deepEqual(await once(child, 'exit'), [0, null])
  },
)
