import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ProgramWindow, keys } from './program-window.ts'
import { looks, narrow } from './looks.ts'
import { Sitting, rested } from './sitting.ts'
import { talkers } from './machine.ts'

test(
  '/vim gives the input modes, shows them, and is kept; Esc leaves insert mode before it cancels',
  { timeout: 120_000 },
  async (t) => {
    const { machine, goOn } = talkers(t)
    const window = new ProgramWindow(machine, looks.dark)
    t.after(() => window.end())
    const sitting = new Sitting(window, 'dark')
    await sitting.begun()
    window.type('/vim\r')
    await sitting.shows(/^ INSERT · chat/m)
    window.type('stream please now')
    await sitting.shows('stream please now')
    window.type(keys.escape)
    await sitting.shows(/^ NORMAL · chat/m)
    window.type('D')
    await sitting.framed('vim', [/^ NORMAL · chat/m, 'stream please no'])
    await sitting.framed('vim', [/^ NORMAL/m], narrow)
    window.type('bhD\r')
    await sitting.shows('The first half', /^ INSERT · chat/m)
    window.type(keys.escape)
    await sitting.shows(/^ NORMAL · chat/m, 'Esc cancels')
    window.type(keys.escape)
    await sitting.shows('(cut off by you)')
    goOn()
    const settings = JSON.parse(readFileSync(join(machine.home, 'settings.json'), 'utf8'))
    assert.equal(settings.vim, true)
    window.type('i/vim\r')
    await sitting.shows(rested('tokens'), /^ chat · /m)
  },
)
