import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { shortHash } from '../../src/base/hash.ts'
import { Machine } from './program.ts'

const fake = join(import.meta.dirname, '..', 'fixtures', 'fake-cli.cjs')
const noTmux = spawnSync('tmux', ['-V']).status === 0 ? false : 'there is no tmux here'

for (const host of ['tmux', 'pty'] as const)
  test(
    `${host}: a program in a terminal takes its turn in the rotation, and hands over when it crashes`,
    { skip: host === 'tmux' && noTmux, timeout: 60_000 },
    async (t) => {
      const machine = new Machine(t)
      t.after(() => spawnSync('tmux', ['-L', `termaite-${shortHash(machine.home)}`, 'kill-server']))
      const command = (...modes: string[]) => [process.execPath, fake, '/dev/null', 'scroll', ...modes].join(' ')
      const seat = { kind: 'screen', idle_pattern: '^> ?$', response_fence: true, contextWindowTokens: 100_000 }
      machine.settings({
        terminals: { host },
        rotationStrategy: 'exhaustion',
        agents: [
          { name: 'breaks', command: 'echo broken; exit 3', ...seat },
          { name: 'says', command: command('say:two%20faults'), ...seat },
        ],
      })
      const { code, out, err } = await machine.run(['-p', 'what is wrong?'])
      assert.deepEqual([code, out], [0, 'two faults\n'], err)
      assert.deepEqual(
        machine.kept().map(([type, by]) => [type, by]),
        [
          ['prompt', 'user'],
          ['attempt', 'breaks'],
          ['thread', 'says'],
          ['reply', 'says'],
          ['end', 'rotation'],
        ],
      )
      const left = spawnSync('pgrep', ['-af', machine.folder], { encoding: 'utf8' }).stdout
      assert.deepEqual(
        left.split('\n').filter((line) => line !== '' && !line.includes('pgrep')),
        [],
      )
    },
  )
