import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Machine } from '../cli/program.ts'
import { Glass, keys } from './glass.ts'
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
      const glass = new Glass(machine, shown)
      t.after(() => glass.end())
      // The folder of a test has another name in every run.
      const sitting = new Sitting(glass, look, (row) => row.replace(shared, '/f/shared'.padEnd(shared.length)))
      await sitting.begun()
      glass.type('/add-dir ../sha')
      await glass.shows('› ../shared/')
      glass.type('red/')
      await glass.shows((screen) => screen.includes('/add-dir ../shared/') && !screen.includes('›'))
      glass.type(keys.enter)
      await sitting.framed('add-dir-card', [
        'Let agents read and change the files',
        'always in this project',
        'Enter answers',
      ])
      glass.type('1')
      glass.type(keys.enter)
      await glass.shows('from the next turn on')
      glass.type('make it')
      glass.type(keys.enter)
      await glass.shows('Made it there.')
      assert.equal(readFileSync(join(shared, 'made.txt'), 'utf8'), 'made\n')
    })
})
