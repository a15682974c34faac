import { test } from 'node:test'
import assert from 'node:assert/strict'
import { ShownLines } from '../../src/store/shown-lines.ts'

async function shown(rows: number, ...parts: (string | 'look')[]) {
  const lines: string[] = []
  const screen = await ShownLines.open({ cols: 20, rows }, (line) => lines.push(line))
  for (const part of parts)
    if (part === 'look') screen.look()
    else await screen.draw(Buffer.from(part))
  screen.look(true)
  return lines
}

test('every printed line is given, a repeated one as often as it was printed, however many there are', async () => {
  const many = Array.from({ length: 30_000 }, (_, n) => (n % 3 === 0 ? 'Done.' : `line ${n}`))
  assert.deepEqual(await shown(5, `${many.join('\r\n')}\r\n`), many)
})

test('a screen that is drawn again and again gives each line once, and a repeated answer twice', async () => {
  const frame = (...rows: string[]) => `\u001b[H\u001b[2J${rows.join('\r\n')}`
  const drawn = [
    frame('> one', '* Thinking 1s', 'box'),
    'look',
    frame('> one', '* Thinking 2s', 'box'),
    'look',
    frame('> one', 'Done.', 'box'),
    'look',
    frame('> one', 'Done.', 'box'),
    'look',
    frame('> one', 'Done.', '> two', 'Done.', 'box'),
    'look',
    frame('> one', 'Done.', '> two', 'Done.', 'box'),
    'look',
  ]
  assert.deepEqual(await shown(8, ...drawn), ['> one', '* Thinking 2s', 'box', 'Done.', '> two', 'Done.'])
})

test('an answer that was scrolled off is given again when it is given again, and a long line is one line', async () => {
  const long = 'x'.repeat(50)
  const drawn = ['Done.\r\n', 'look', 'look', `a\r\nb\r\nc\r\nd\r\nDone.\r\n${long}\r\ne\r\n`, 'look', 'look']
  assert.deepEqual(await shown(3, ...drawn), ['Done.', 'a', 'b', 'c', 'd', 'Done.', long, 'e'])
})

test('a line that grows while it is looked at is given when it stands', async () => {
  assert.deepEqual(await shown(5, 'Hel', 'look', 'lo wor', 'look', 'ld', 'look', 'look'), ['Hello world'])
})
