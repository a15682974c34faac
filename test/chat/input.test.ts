import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setKittyProtocolActive } from '@earendil-works/pi-tui'
import { settled } from '../hand-clock.ts'
import { command, kitty, legacy, seat } from './input-seat.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

for (const [protocol, key] of Object.entries({ legacy, kitty })) {
  test(`${protocol} keys: Enter sends, four others begin a line`, (t) => {
    setKittyProtocolActive(protocol === 'kitty')
    t.after(() => setKittyProtocolActive(false))
    const { box, sent, press, type } = seat()
    type('one')
    press(key.shiftEnter)
    type('two')
    press(key.altEnter)
    type('three')
    press(key.ctrlJ)
    type('four\\')
    press(key.enter)
    type('five')
    assert.equal(box.text(), 'one\ntwo\nthree\nfour\nfive')
    press(key.enter)
    assert.deepEqual({ sent, left: box.text() }, { sent: ['one\ntwo\nthree\nfour\nfive'], left: '' })
  })
}

test('a prompt of spaces is neither sent nor lost', () => {
  const { box, sent, press, type } = seat()
  type('  ')
  press(legacy.enter)
  assert.deepEqual({ sent, text: box.text() }, { sent: [], text: '  ' })
})

test('an empty input says what can be done, in a rule that is as wide as it is told', (t) => {
  golden(t, seat().lines(50))
})

test('the input grows with its text, then scrolls and counts the rows out of sight', () => {
  const { press, type, lines } = seat({}, { rows: 24 })
  for (let at = 1; at <= 9; at++) {
    type(`line ${at}`)
    press(legacy.ctrlJ)
  }
  press(legacy.up)
  assert.deepEqual(lines(20), [
    '── ↑ 2 more · ↓ … ──',
    ...[3, 4, 5, 6, 7, 8, 9].map((at) => ` line ${at}             `),
  ])
})

test('Up on an empty input takes back queued prompts, the newest first', () => {
  const { box, desk, press, lines } = seat()
  desk.queue = ['first', 'second\nwith a line']
  box.setQueue(desk.queue)
  assert.deepEqual(lines(60).slice(0, 2), [' ↳ waiting: first', ' ↳ waiting: second with a line  (Up takes it back)'])
  press(legacy.up)
  assert.deepEqual({ text: box.text(), queue: desk.queue }, { text: 'second\nwith a line', queue: ['first'] })
})

test('a long queue is three lines and a count', () => {
  const { box, lines } = seat()
  box.setQueue(['a', 'b', 'c', 'd', 'e'])
  assert.deepEqual(lines(30).slice(0, 4), [' ↳ 2 more waiting', ' ↳ waiting: c', ' ↳ waiting: d', ' ↳ waiting: e'])
})

test('Up recalls sent prompts, and Down returns to the half typed one', async () => {
  const { box, press, type } = seat({ past: ['oldest', 'twin', 'twin', 'newest'] })
  type('half')
  press(legacy.up, legacy.up, legacy.up)
  await settled()
  const seen = [box.text()]
  for (const key of [legacy.up, legacy.up, legacy.up, legacy.down, legacy.down, legacy.down]) {
    press(key)
    seen.push(box.text())
  }
  assert.deepEqual(seen, ['newest', 'twin', 'oldest', 'oldest', 'twin', 'newest', 'half'])
})

test('the cursor stands at the end of everything that is recalled', async () => {
  const { desk, box, press, type } = seat({ past: ['one\ntwo', 'go'] })
  const typedOn = () => {
    type('X')
    const text = box.text()
    press(legacy.backspace)
    return text
  }
  press(legacy.up)
  await settled()
  const seen = [typedOn()]
  box.clear()
  type('half')
  press(legacy.up, legacy.up, legacy.up)
  seen.push(typedOn())
  box.clear()
  type('half')
  press(legacy.up, legacy.up, legacy.down)
  seen.push(typedOn())
  box.clear()
  press(legacy.up, legacy.up, legacy.down)
  seen.push(typedOn())
  box.clear()
  press(legacy.ctrlR)
  await settled()
  press(legacy.down, legacy.enter)
  seen.push(typedOn())
  box.clear()
  desk.queue = ['waits']
  box.setQueue(desk.queue)
  press(legacy.up)
  seen.push(typedOn())
  // A rewind fills the earlier prompt in.
  box.fill('an earlier\nprompt')
  seen.push(typedOn())
  press('\x15')
  seen.push(box.text())
  assert.deepEqual(seen, [
    'goX',
    'one\ntwoX',
    'halfX',
    'goX',
    'one\ntwoX',
    'waitsX',
    'an earlier\npromptX',
    'an earlier\n',
  ])
})

test('the history is read when first needed, and prompts of this process are its newest', async () => {
  let reads = 0
  const { desk, box, press, type } = seat({ past: ['before', 'here', 'and here'] })
  const past = desk.sentPrompts.bind(desk)
  desk.sentPrompts = () => (reads++, past())
  for (const text of ['here', 'and here']) {
    type(text)
    press(legacy.enter)
  }
  assert.equal(reads, 0)
  press(legacy.up)
  await settled()
  const seen = [box.text()]
  for (let at = 0; at < 3; at++) {
    press(legacy.up)
    seen.push(box.text())
  }
  assert.deepEqual([reads, seen], [1, ['and here', 'here', 'before', 'before']])
})

test('text typed while the history is read is not overwritten', async () => {
  const { box, press, type } = seat({ past: ['before'] })
  press(legacy.up)
  type('x')
  await settled()
  assert.equal(box.text(), 'x')
})

test('Ctrl+R finds a sent prompt', async () => {
  const { box, press, type, lines } = seat({ past: ['fix the tests', 'write docs', 'fix the lint'] })
  press(legacy.ctrlR)
  await settled()
  type('fix')
  assert.deepEqual(
    { open: box.popupOpen(), lines: lines(30).slice(0, 3) },
    {
      open: true,
      lines: ['  sent before: fix            ', '› fix the lint                ', '  fix the tests               '],
    },
  )
  press(legacy.down, legacy.enter)
  assert.deepEqual({ open: box.popupOpen(), text: box.text() }, { open: false, text: 'fix the tests' })
})

test('Up recalls after a search too, and a prompt sent while the history is read is its newest', async () => {
  const { box, press, type } = seat({ past: ['one', 'two'] })
  press(legacy.ctrlR)
  await settled()
  assert.deepEqual([box.popupOpen(), box.clear(), box.popupOpen()], [true, true, false])
  press(legacy.up)
  type('three')
  press(legacy.enter)
  await settled()
  const seen = []
  for (let at = 0; at < 3; at++) {
    press(legacy.up)
    seen.push(box.text())
  }
  assert.deepEqual(seen, ['three', 'two', 'one'])
})

test('a text too long to lay out at each key is left out by Up, and found as a chip', async () => {
  const long = 'word '.repeat(5000).trim()
  const { box, press, type, lines } = seat({ past: ['short', long] })
  press(legacy.up)
  await settled()
  const recalled = box.text()
  press(legacy.ctrlR)
  await settled()
  type('word')
  press(legacy.enter)
  assert.deepEqual(
    [recalled, box.text() === long, lines(40)[1]],
    ['short', true, ` ${'[pasted 24999 chars]'.padEnd(39)}`],
  )
})

test('Ctrl+G gives the whole text to the editor and takes what comes back', async () => {
  const { box, edits, press } = seat()
  box.fill('draft')
  press(legacy.ctrlG, legacy.ctrlG)
  assert.deepEqual(
    edits.map(({ text }) => text),
    ['draft'],
  )
  edits[0]!.done('edited\ntext\n')
  await settled()
  assert.equal(box.text(), 'edited\ntext')
  press(legacy.ctrlG)
  edits[1]!.done(undefined)
  await settled()
  assert.equal(box.text(), 'edited\ntext')
})

test('an unknown command opens the palette and stays in the input; a path is a prompt', () => {
  const { box, sent, palettes, press, type } = seat({ commands: [command('help')] })
  type('/hlep me')
  press(legacy.enter)
  assert.deepEqual({ sent, palettes, text: box.text() }, { sent: [], palettes: ['hlep'], text: '/hlep me' })
  assert.equal(box.clear(), true)
  assert.equal(box.clear(), false)
  type('/etc/hosts is wrong')
  press(legacy.enter)
  type('/help me')
  press(legacy.enter)
  assert.deepEqual({ sent, palettes }, { sent: ['/etc/hosts is wrong', '/help me'], palettes: ['hlep'] })
})
