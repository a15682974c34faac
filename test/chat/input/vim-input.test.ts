import { test } from 'node:test'
import assert from 'node:assert/strict'
import { seat, legacy, kitty, pasted } from '../input-seat.ts'

const timeout = 20_000

/** A person at an input with the keys of vim, who presses Esc where the screen hands it to the input. */
function vim() {
  const at = seat({ commands: [] })
  at.box.setVim(true)
  const press = (...keys: string[]) => {
    for (const key of keys) if (key !== legacy.escape || !at.box.leaveInsert()) at.press(key)
  }
  return { ...at, press, type: (text: string) => press(...text) }
}

test('the input begins in insert mode, Esc leaves it, and a sent prompt begins it again', { timeout }, () => {
  const { box, press, type, sent } = vim()
  type('one two')
  assert.deepEqual([box.text(), box.vimMode], ['one two', 'INSERT'])
  press(legacy.escape)
  assert.equal(box.vimMode, 'NORMAL')
  type('bd')
  assert.equal(box.vimMode, 'NORMAL d')
  assert.equal(box.leaveInsert(), true, 'Esc forgets a command that was only begun')
  assert.equal(box.leaveInsert(), false, 'and then has its old meaning')
  type('dwix')
  assert.deepEqual([box.text(), box.vimMode], ['onex ', 'INSERT'])
  press(legacy.escape, 'u', 'u', legacy.enter)
  assert.deepEqual([sent, box.text(), box.vimMode], [['one two'], '', 'INSERT'])
})

test('keys that arrive together, or by the protocol of Kitty, are the same keys', { timeout }, () => {
  const { box, press, type } = vim()
  type('one two three')
  press(legacy.escape, '0', 'dw')
  assert.equal(box.text(), 'two three')
  press('\x1b[100;1u', '\x1b[119;1u')
  assert.equal(box.text(), 'three')
  press('\x1b[97:65;2u', '!')
  assert.deepEqual([box.text(), box.vimMode], ['three!', 'INSERT'])
  assert.equal(kitty.escape, '\x1b[27u')
  press(legacy.escape, 'dd')
  assert.deepEqual([box.text(), box.vimMode], ['', 'NORMAL'])
  press('/goal the tests are green')
  assert.deepEqual(
    [box.text(), box.vimMode],
    ['/goal the tests are green', 'INSERT'],
    'a command that arrives as a whole',
  )
})

test('a chip is one character, and its text comes back with u', { timeout }, async () => {
  const { box, press, type, clock } = vim()
  const long = Array.from({ length: 20 }, (_, at) => `line ${at}`).join('\n')
  type('look ')
  press(pasted(long))
  // Keys right behind a paste may belong to it.
  await clock.turn(1000)
  type(' now')
  press(legacy.escape, '0', 'w', 'x')
  assert.equal(box.text(), 'look  now')
  press('u')
  assert.equal(box.text(), `look ${long} now`)
})

test('in an empty input the characters that begin a command are typed, in normal mode too', { timeout }, () => {
  const { box, press, palettes } = vim()
  press(legacy.escape, '?')
  assert.deepEqual([palettes, box.vimMode], [['the keys'], 'NORMAL'])
  press('/')
  assert.deepEqual([box.text(), box.vimMode], ['/', 'INSERT'])
})

test('without vim nothing has modes', { timeout }, () => {
  const { box, press, type } = vim()
  box.setVim(false)
  type('dd')
  assert.deepEqual([box.text(), box.vimMode, box.leaveInsert()], ['dd', undefined, false])
  press(legacy.up)
})
