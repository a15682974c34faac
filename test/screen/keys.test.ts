import { test } from 'node:test'
import assert from 'node:assert/strict'
import { Glass, keys } from './glass.ts'
import { talkers } from './machine.ts'

const [wheelUp, wheelDown] = ['\x1b[<64;10;10M', '\x1b[<65;10;10M']

test(
  'reading: pages, the wheel, the way back to the end, search, and copying by the mouse',
  { timeout: 120_000 },
  async (t) => {
    const { machine } = talkers(t)
    const glass = new Glass(machine, { env: { NO_COLOR: '1' } })
    t.after(() => glass.end())
    const copied: string[] = []
    glass.emulator.parser.registerOscHandler(52, (data) => copied.push(data) > 0)
    await glass.shows(/next alpha/)
    glass.type('long please\r')
    await glass.shows(/item 120 [^]*─ alpha · /)

    glass.type(keys.pageUp)
    await glass.shows((screen) => !screen.includes('item 120 ') && screen.includes('item 98 '))
    glass.type(keys.pageDown)
    await glass.shows('item 120 ')
    glass.type(wheelUp.repeat(2))
    await glass.shows((screen) => !screen.includes('item 120 ') && screen.includes('item 114 '))
    glass.type(wheelDown.repeat(2))
    await glass.shows('item 120 ')
    glass.type(keys.pageUp.repeat(3))
    await glass.shows(/Ctrl\+End/)
    glass.type(keys.ctrlEnd)
    await glass.shows('item 120 ')

    glass.type(keys.ctrlF)
    glass.type('item 42 of')
    await glass.shows(/- item 42 of a long list/)
    glass.type(keys.escape)
    const lines = (await glass.shows(/item 42 of[^]*Ask anything/)).split('\n')
    const row = lines.findIndex((line) => line.includes('- item 42 of')) + 1
    const [from, to] = [lines[row - 1]!.indexOf('item 42') + 1, lines[row - 1]!.indexOf('item 42') + 7]
    glass.type(`\x1b[<0;${from};${row}M\x1b[<32;${to};${row}M\x1b[<0;${to};${row}m`)
    await glass.shows(() => copied.length > 0)
    assert.deepEqual(copied, [`c;${Buffer.from('item 42').toString('base64')}`])
  },
)
