import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Machine } from '../cli/program.ts'
import { ProgramWindow, keys } from './program-window.ts'
import { looksOf } from './looks.ts'
import { Sitting } from './sitting.ts'

const options = { timeout: 60_000 }

describe('/add-dir', { concurrency: 2 }, () => {
  for (const [look, shown] of looksOf('light'))
    test(`a card asks for how long a folder is opened, and the next turn uses it, ${look}`, options, async (t) => {
      const machine = new Machine(t)
      const shared = join(machine.folder, 'shared')
      mkdirSync(shared)
      const alpha = `grep -q '${shared}' && echo made > '${shared}/made.txt' && echo 'Made it there.'`
      machine.agents({ alpha }, { metaInstruction: false, leash: 'edit' })
      const window = new ProgramWindow(machine, shown)
      t.after(() => window.end())
      // The folder of a test has another name in every run.
      const sitting = new Sitting(window, look, (row) => row.replace(shared, '/f/shared'.padEnd(shared.length)))
      await sitting.begun()
      window.type('/add-dir ../sha')
      await window.shows('› ../shared/')
      window.type('red/')
      await window.shows((screen) => screen.includes('/add-dir ../shared/') && !screen.includes('›'))
      window.type(keys.enter)
      await sitting.framed('add-dir-card', [
        'Let agents read and change the files',
        'always in this project',
        'Enter answers',
      ])
      window.type('1')
      window.type(keys.enter)
      await window.shows('from the next turn on')
      window.type('make it')
      window.type(keys.enter)
      await window.shows('Made it there.')
      assert.equal(readFileSync(join(shared, 'made.txt'), 'utf8'), 'made\n')
    })
})
