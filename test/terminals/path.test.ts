import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { drawn, filled } from '../contract/terminal.ts'
import { ground, noTmux } from './real.ts'

for (const kind of ['tmux', 'pty'] as const)
  test(
    `${kind}: a program finds what the process that spawned it finds first, although init files set a PATH of their own`,
    {
      skip: kind === 'tmux' && noTmux,
    },
    async (t) => {
      const { host, cwd, home, env } = ground(kind, t)
      for (const file of ['.profile', '.bashrc']) writeFileSync(join(home, file), 'PATH=/usr/bin:/bin:/from/init\n')
      const PATH = `/spawned/bin:relative:${env.PATH}`
      const terminal = await host.open('printf "%s\\n" "$PATH" | cut -c1-14; printf "%s\\n" "${PATH##*:}" ready', {
        cwd,
        env: { PATH },
      })
      await drawn(terminal, 'ready')
      assert.deepEqual(filled(await terminal.screen()).slice(0, 3), ['/spawned/bin:/', '/from/init', 'ready'])
      await terminal.close()
    },
  )

test(
  'a fish shell is given the folders as a list',
  { skip: existsSync('/usr/bin/fish') && 'fish is tried in a terminal' },
  async () => {
    const { shellArgv } = await import('../../src/terminals/program/terminal-program.ts')
    assert.deepEqual(shellArgv('claude', { shell: '/usr/bin/fish', withheld: ['A'], path: '/a b:/c' }).slice(0, 5), [
      '/usr/bin/fish',
      '-l',
      '-i',
      '-c',
      "set -e A; set -gx PATH '/a b' '/c' $PATH; claude",
    ])
  },
)
