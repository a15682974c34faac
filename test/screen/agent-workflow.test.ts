import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Machine } from '../cli/program.ts'
import { ProgramWindow, keys } from './program-window.ts'

const fake = join(import.meta.dirname, '..', 'fixtures', 'fake-cli.cjs')
const words = 'Review what was changed, and nothing else.'

test(
  'a project’s own workflow is used once it is trusted, under each name of its family',
  { timeout: 60_000 },
  async (t) => {
    const machine = new Machine(t)
    const command = [process.execPath, fake, join(machine.folder, 'gate'), 'scroll'].join(' ')
    machine.settings({ leash: 'edit', agents: { fake: { command, idle_pattern: '^> ?$', response_fence: true } } })
    execFileSync('git', ['init', '-q'], { cwd: machine.project })
    const folder = join(machine.project, '.agent', 'workflows')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'waaah-review.md'), words)
    const env = { TERMAITE_HUB: 'http://127.0.0.1:9' }
    const start = (name: string, ...more: string[]) => {
      const args = ['agent', '--start=fake', `--as=${name}`, '--here', ...more]
      const window = new ProgramWindow(machine, { args, env, size: { cols: 200, rows: 40 } })
      t.after(() => window.end())
      return window
    }
    // An answer counts once the prompt for it is there.
    const asks = (window: ProgramWindow) => window.shows(/1 No, do not use them\s+2 Yes, [^]*\n> *$/m)
    const runs = async (window: ProgramWindow) => {
      await window.shows(words)
      await window.shows('answer 1')
      window.type(keys.ctrlC)
      await window.shows('Exit or continue? [e/c]')
      window.type('e\r')
      assert.equal((await window.exited).exitCode, 0)
    }

    // Where the person is not asked, nothing is trusted.
    for (const flag of ['--dry-run', '--yes']) {
      const window = start('review', flag)
      assert.equal((await window.exited).exitCode, 2)
      const file = join(folder, 'waaah-review.md')
      assert.equal(
        window.scrollback(),
        `termaite: --as: ${file} is not used, because this folder is not trusted. To see what it would start and trust it, run: termaite trust`,
      )
    }
    const refused = start('review')
    const card = await asks(refused)
    assert.match(card, /\.agent\/workflows\/waaah-review\.md/, 'what it would trust is shown')
    refused.type('\r')
    assert.equal((await refused.exited).exitCode, 2)

    const trusting = start('review')
    await asks(trusting)
    trusting.type('2\r')
    await runs(trusting)
    const known = start('waaah-review')
    await runs(known)
    assert.doesNotMatch(known.raw, /trust/i)

    // Exactly these words are trusted: other words are asked about again.
    writeFileSync(join(folder, 'waaah-review.md'), 'Delete everything.')
    const changed = start('review')
    await asks(changed)
    changed.type(keys.ctrlC)
    assert.equal((await changed.exited).exitCode, 130)
    assert.doesNotMatch(changed.raw, /answer 1/)
  },
)
