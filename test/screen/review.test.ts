import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Machine } from '../cli/program.ts'
import { reviewedProject } from '../reviewed-project.ts'
import { ProgramWindow, keys } from './program-window.ts'
import { looksOf } from './looks.ts'
import { Sitting, uncounted } from './sitting.ts'

const options = { timeout: 60_000 }

describe('/review', { concurrency: 2 }, () => {
  for (const [look, shown] of looksOf('light'))
    test(`the findings stand as a list, and /review fix has one of them mended, ${look}`, options, async (t) => {
      const machine = new Machine(t)
      reviewedProject(machine.project)
      const alpha = 'cat >/dev/null; cat answer.json'
      const beta = `grep -q '^1. .*high.*sum.js:2' && sed -i 's/a - b/a + b/' sum.js && echo 'add adds again.'`
      machine.settings({
        metaInstruction: false,
        agents: [
          { name: 'alpha', command: alpha, leash: 'read', contextWindowTokens: 100_000 },
          { name: 'beta', command: beta, contextWindowTokens: 100_000 },
        ],
      })
      const window = new ProgramWindow(machine, { ...shown, args: ['--leash', 'edit'] })
      t.after(() => window.end())
      const sitting = new Sitting(window, look, uncounted)
      await sitting.begun()
      window.type('/review')
      await sitting.shows('Let an agent review changes; it changes nothing.')
      window.type(keys.enter)
      await sitting.framed('review-findings', [
        'add subtracts its second argument.',
        'To have them fixed: /review fix all',
        'Ask anything',
        // The line that closes the turn comes last.
        '─ termaite · next in line',
        (screen) => !screen.includes('Esc cancels') && / ~\d+ tokens$/.test(screen.trimEnd()),
      ])
      window.type('/switch beta')
      window.type(keys.enter)
      await window.shows(' next beta ')
      window.type('/review fix 1')
      window.type(keys.enter)
      await window.shows('add adds again.')
      assert.match(readFileSync(join(machine.project, 'sum.js'), 'utf8'), /return a \+ b/)
    })
})
