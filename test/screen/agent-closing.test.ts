import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { watch } from 'node:fs/promises'
import { join } from 'node:path'
import { shortHash } from '../../src/base/hash.ts'
import { machineAtWork } from '../cli/agent-machine.ts'
import { ProgramWindow } from './program-window.ts'

const noTmux = spawnSync('tmux', ['-V']).status === 0 ? false : 'there is no tmux here'

/** The ways in which a session is resumed, and the first words of the resumed run. */
const ways = [
  // The CLI ended with the terminal: a fresh one is told what was asked, once.
  { args: [], skip: false, came: 'fake: started\n' },
  { args: ['--tmux'], skip: noTmux, came: 'fake: was still running; watching it again\n' },
] as const

for (const { args, skip, came } of ways)
  test(
    `a terminal that is closed in the middle of a turn: --resume goes on with it${args.map((arg) => ` (${arg})`).join('')}`,
    { timeout: 60_000, skip },
    async (t) => {
      const { machine, hub, env, settled, add, gate, start, session, folder, flying } = await machineAtWork(t, 'slow')
      const socket = `termaite-${shortHash(machine.home)}`
      t.after(() => spawnSync('tmux', ['-L', socket, 'kill-server']))
      const window = new ProgramWindow(machine, { args: ['agent', '--start=fake', ...args], env })
      t.after(() => window.end())
      await flying()
      await (args.length === 0 ? window.shows('half') : window.shows('fake runs in tmux; see it with: '))
      const { flight, terminal } = session()
      const sight = watch(join(folder('sessions'), session().id), { signal: t.signal })[Symbol.asyncIterator]()
      // The watcher works from its first call on, and a change may be reported only once.
      let news = sight.next()
      window.close()
      while (session().owner !== '') {
        await news
        news = sight.next()
      }
      news.catch(() => {})
      assert.deepEqual([session().flight, session().terminal], [flight, terminal])
      writeFileSync(gate, '')
      const again = start(['agent', '--start=fake', ...args, '--resume'])
      const [task] = await settled([await add('Say something.')])
      again.child.kill('SIGTERM')
      await once(again.child, 'exit')
      assert.ok(again.said().includes(came), again.said())
      assert.deepEqual([task!.state, task!.result], ['COMPLETED', { message: 'answer 2' }])
      assert.equal((await hub.agents()).length, 1)
    },
  )
