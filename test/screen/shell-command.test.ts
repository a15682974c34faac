import type { TestContext } from 'node:test'
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Machine } from '../cli/program.ts'
import { until } from '../until.ts'
import { ProgramWindow, keys } from './program-window.ts'
import { looksOf } from './looks.ts'
import { Sitting, rested } from './sitting.ts'

const options = { timeout: 60_000 }

/** A machine whose only agent answers with what it was told. */
function echoing(t: TestContext): Machine {
  const machine = new Machine(t)
  machine.agents({ alpha: `cat > ${join(machine.folder, 'told')}; echo I heard it` }, { metaInstruction: false })
  return machine
}

describe('!command', { concurrency: 2 }, () => {
  for (const [look, shown] of looksOf('plain'))
    test(`runs in the person’s shell and shows its output, ${look}`, options, async (t) => {
      const machine = echoing(t)
      const window = new ProgramWindow(machine, { ...shown, env: { ...shown.env, SHELL: '/bin/sh' } })
      t.after(() => window.end())
      const sitting = new Sitting(window, look)
      await sitting.begun()
      window.type("!printf 'one\\ntwo\\n'; echo wrong >&2; exit 3\r")
      await sitting.framed('shell-command', ['two', 'wrong', '✗ exit code 3 · ', rested('0 tokens')])
    })

  for (const typed of ['!echo begun; sleep 1000', 'say it'])
    test(`“${typed}” stands on the screen in every frame from the first key of Enter on`, options, async (t) => {
      const machine = new Machine(t)
      machine.agents({ alpha: 'cat >/dev/null; echo begun; sleep 1000' }, { metaInstruction: false })
      const window = new ProgramWindow(machine, { env: { SHELL: '/bin/sh' } })
      t.after(() => window.end())
      await window.shows(rested('0 tokens'))
      window.type(typed)
      await window.shows(typed)
      const without: string[] = []
      window.type(keys.enter)
      await window.shows((screen) => {
        if (!screen.includes(typed)) without.push(screen)
        return /^ +begun$/m.test(screen)
      })
      assert.deepEqual(without, [])
    })

  test('the next agent is told, bounded and masked, and the history keeps it', options, async (t) => {
    const machine = echoing(t)
    const env = { SHELL: '/bin/sh', MY_API_TOKEN: 'tok-4f9a8b7c6d5e4f3a2b1c' }
    const window = new ProgramWindow(machine, { env, size: { cols: 100, rows: 40 } })
    t.after(() => window.end())
    await window.shows(rested('0 tokens'))
    window.type('!pwd; echo "token $MY_API_TOKEN"; seq 1 4000\r')
    await window.shows((screen) => /✓ done · .* · the next agent sees this output/.test(screen))
    await window.shows(/… \d+ more lines; Ctrl\+O shows them/)
    window.type('go on\r')
    await window.shows('I heard it')
    const told = readFileSync(join(machine.folder, 'told'), 'utf8')
    assert.match(told, /<message from="user">\n!pwd; echo "token/)
    assert.match(told, /<call by="user" tool="shell">\n\{"command":"pwd; echo/)
    assert.match(told, /<result by="user">\n\/.*project\ntoken \[masked \$MY_API_TOKEN\]\n1\n2\n/)
    assert.match(told, /\[… \d+ characters left out …\]/)
    assert.match(told, /3999\n4000\n<\/result>/)
    assert.doesNotMatch(told, /tok-4f9a/)
    window.type(keys.ctrlD)
    await window.exited

    const shown = await machine.run(['sessions', 'show'], {})
    assert.match(shown.out, /user: !pwd; echo/)
    assert.match(shown.out, /user: \/.*project\n/)
    // In a window that holds the whole of it: where a page up ends depends on what is rendered by then.
    const again = new ProgramWindow(machine, { env, size: { cols: 100, rows: 40 } })
    t.after(() => again.end())
    await again.shows(rested('tokens'))
    await again.shows('the next agent sees this output')
    again.type(keys.ctrlD)
    await again.exited
  })

  test('Esc ends it with everything that it started, while a turn may run beside it', options, async (t) => {
    const machine = echoing(t)
    const window = new ProgramWindow(machine, { env: { SHELL: '/bin/sh' } })
    t.after(() => window.end())
    await window.shows(rested('0 tokens'))
    const file = join(machine.folder, 'pid')
    window.type(`!echo begun; sleep 1000 & echo $! > ${file}; wait\r`)
    await window.shows((screen) => screen.includes('begun') && screen.includes('your command'))
    window.type('hello\r')
    await window.shows('I heard it')
    const pid = Number(readFileSync(file, 'utf8'))
    assert.equal(existsSync(`/proc/${pid}`), true)
    window.type(keys.escape)
    await window.shows('[cancelled]')
    await window.shows('✗ stopped · ')
    await until(() => !existsSync(`/proc/${pid}`))
  })

  test('hostile output is cleaned, and a program without its terminal says what to do', options, async (t) => {
    const machine = echoing(t)
    const window = new ProgramWindow(machine, { env: { SHELL: '/bin/sh' } })
    t.after(() => window.end())
    await window.shows(rested('0 tokens'))
    window.type(`!printf '\\033]0;evil\\007\\033[2J\\033[31mhel\\033[0mlo\\n'\r`)
    await window.shows(/^ +hello$/m)
    assert.equal(window.raw.includes('evil\u0007'), false)
    window.type('!: < /dev/tty\r')
    await window.shows((screen) =>
      screen.replaceAll(/\s+/g, ' ').includes('run it in your shell, and come back with fg'),
    )
    window.type('!\r')
    await window.shows('Type a command after the !')
  })
})
