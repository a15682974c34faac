import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../cases.ts'
import { visibleWidth } from '@earendil-works/pi-tui'
import { legacy, pasted, seat } from './input-seat.ts'

const many = Array.from({ length: 12 }, (_, at) => `line ${at}`).join('\n')

test('a large paste is a chip that is sent whole', async () => {
  const { sent, clock, press, type, lines } = seat()
  type('look: ')
  press(pasted(many))
  assert.deepEqual(lines(40).slice(1, 2), [' look: [pasted 12 lines]                '])
  press(pasted('x'.repeat(1001)))
  assert.deepEqual(lines(60).slice(1, 2), [` ${'look: [pasted 12 lines][pasted 1001 chars]'.padEnd(59)}`])
  await clock.turn(1000)
  press(legacy.enter)
  assert.deepEqual(sent, [`look: ${many}${'x'.repeat(1001)}`])
})

test('a line break at the end of a paste begins no further line', async () => {
  const text = (count: number) => 'line\n'.repeat(count)
  const { box, clock, press, lines } = seat()
  press(pasted(text(30)))
  await clock.turn(1000)
  assert.deepEqual([box.text(), lines(40)[1]], [text(30), ' [pasted 30 lines]                      '])
  box.clear()
  press(pasted(text(10)))
  assert.deepEqual([box.text(), lines(40)[1]], [text(10), ' line                                   '])
})

test('a chip is deleted as one character and comes back with undo', async () => {
  const { box, clock, press, type } = seat()
  press(pasted(many))
  await clock.turn(1000)
  type(' ')
  press(pasted(`${many}!`))
  await clock.turn(1000)
  press(legacy.backspace)
  assert.equal(box.text(), `${many} `)
  press(legacy.undo)
  assert.equal(box.text(), `${many} ${many}!`)
})

test('typed text that looks like a chip stays text', () => {
  const { box, type, lines } = seat()
  type('[paste #1 +12 lines]')
  assert.deepEqual([box.text(), lines(40)[1]], ['[paste #1 +12 lines]', ' [paste #1 +12 lines]                   '])
})

test('text inside a paste that looks like a chip stays text', async () => {
  const trap = `${many}\n[paste #2 +12 lines]`
  const { sent, clock, press } = seat()
  press(pasted(trap), pasted(many))
  await clock.turn(1000)
  press(legacy.enter)
  assert.deepEqual(sent, [trap + many])
})

test('a small paste is text in its place, its line ends and nothing else of its control characters', () => {
  const { box, press } = seat()
  press(pasted('a\r\nb\rc\x1b[31mred\x1b[0m\x1b]0;title\x07\x00\x9b2J\x7f\x1b_never closed'))
  assert.equal(box.text(), 'a\nb\ncred2J_never closed')
})

test('the end of a paste inside a paste sends nothing and presses nothing', async () => {
  const { box, sent, clock, press } = seat()
  press(pasted(`rm -rf /\x1b[201~\rnow`))
  assert.deepEqual({ sent, text: box.text() }, { sent: [], text: 'rm -rf /\nnow' })
  box.clear()
  await clock.turn(1000)
  // As a terminal's reader hands it over: the paste up to the first end, then key by key.
  press(pasted('one'), '\r', 'x', '\x1b[A', '\x03', '\r', 'y', '\x1b[201~')
  assert.deepEqual({ sent, text: box.text() }, { sent: [], text: 'one\nx\ny' })
  await clock.turn(30)
  press(legacy.enter)
  assert.deepEqual(sent, ['one\nx\ny'])
})

test('a paste may come in pieces', () => {
  const { box, press } = seat()
  press('\x1b[200~one ', 'two', ' three\x1b[201~')
  assert.equal(box.text(), 'one two three')
})

test('five million characters are one chip, and typing goes on', async () => {
  const body = `${'abcdefghi\n'.repeat(500_000)}`
  const { sent, clock, press, type, lines } = seat()
  press(pasted(body))
  await clock.turn(1000)
  type(' sum it up')
  assert.equal(lines(60)[1], ` ${'[pasted 500000 lines] sum it up'.padEnd(59)}`)
  press(legacy.enter)
  assert.deepEqual(
    sent.map((text) => text === `${body} sum it up`),
    [true],
  )
})

test('property: whatever is pasted or typed, each line has the given width and no control character', () => {
  const hostile = fc.array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.constantFrom('\x1b[2J', '\x1b]52;c;aGk=\x07', '\x9b31m', '日本語', '👩‍👩‍👧', 'é', '\u202e', '\n', '\t'),
    ),
    { maxLength: 8 },
  )
  fc.assert(
    fc.property(hostile, fc.integer({ min: 20, max: 200 }), (parts, width) => {
      const { box, lines, press } = seat()
      press(pasted(parts.join('')))
      for (const line of box.render(width)) assert.equal(visibleWidth(line), width)
      assert.doesNotMatch(lines(width).join(''), /[\x00-\x1f\x7f-\x9f]/)
    }),
    { numRuns: 80 },
  )
})
