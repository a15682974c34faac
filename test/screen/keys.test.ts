import { test } from 'node:test'
import assert from 'node:assert/strict'
import { ProgramWindow, keys } from './program-window.ts'
import { talkers } from './machine.ts'

const [wheelUp, wheelDown] = ['\x1b[<64;10;10M', '\x1b[<65;10;10M']

test(
  'reading: pages, the wheel, the way back to the end, search, and copying by the mouse',
  { timeout: 120_000 },
  async (t) => {
    const { machine } = talkers(t)
    const window = new ProgramWindow(machine, { env: { NO_COLOR: '1' } })
    t.after(() => window.end())
    const copied: string[] = []
    window.emulator.parser.registerOscHandler(52, (data) => copied.push(data) > 0)
    await window.shows(/next alpha/)
    window.type('long please\r')
    await window.shows(/item 120 [^]*─ alpha · /)

    window.type(keys.pageUp)
    await window.shows((screen) => !screen.includes('item 120 ') && screen.includes('item 98 '))
    window.type(keys.pageDown)
    await window.shows('item 120 ')
    window.type(wheelUp.repeat(2))
    await window.shows((screen) => !screen.includes('item 120 ') && screen.includes('item 114 '))
    window.type(wheelDown.repeat(2))
    await window.shows('item 120 ')
    window.type(keys.pageUp.repeat(3))
    await window.shows(/Ctrl\+End/)
    window.type(keys.ctrlEnd)
    await window.shows('item 120 ')

    window.type(keys.ctrlF)
    window.type('item 42 of')
    await window.shows(/- item 42 of a long list/)
    window.type(keys.escape)
    const lines = (await window.shows(/item 42 of[^]*Ask anything/)).split('\n')
    const row = lines.findIndex((line) => line.includes('- item 42 of')) + 1
    const [from, to] = [lines[row - 1]!.indexOf('item 42') + 1, lines[row - 1]!.indexOf('item 42') + 7]
    window.type(`\x1b[<0;${from};${row}M\x1b[<32;${to};${row}M\x1b[<0;${to};${row}m`)
    await window.shows(() => copied.length > 0)
    assert.deepEqual(copied, [`c;${Buffer.from('item 42').toString('base64')}`])
  },
)
