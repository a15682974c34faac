import { test } from 'node:test'
import assert from 'node:assert/strict'
import { settled } from '../hand-clock.ts'
import { cleanRows, newRows } from '../../src/crew/slot-output.ts'
import { crewOf, machine, place } from './rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

test('a read returns the last lines or only new ones, and waits for a pattern until its time is over', async (context) => {
  const { find, print, seat } = machine()
  const { crew, clock } = crewOf(context, { claude: seat('claude') }, { find })
  await crew.spawn({ ...place, agent: 'claude', task: 'go' })
  await clock.turn(200)
  print(1, 'one\ntwo\nthree\n')
  assert.deepEqual(await crew.read(1, { lines: 2, until: 0 }), { output: 'two\nthree', state: 'busy' })
  print(1, 'four\n')
  assert.equal((await crew.read(1, { lines: 50, until: 0, sinceLast: true })).output, 'four')
  assert.equal((await crew.read(1, { lines: 50, until: 0, sinceLast: true })).output, '')

  const found = crew.read(1, { lines: 50, until: 60_000, pattern: '^listening on \\d+$' })
  await clock.turn(1_000)
  print(1, 'listening on 8080\n')
  await clock.turn(1_000)
  assert.equal((await found).matched, true)
  const missed = crew.read(1, { lines: 50, until: clock.elapsed() + 30_000, pattern: 'never' })
  await clock.turn(30_000)
  assert.equal((await missed).matched, false)
})

test('an invalid or endless pattern is refused, and blocks nothing else', async (context) => {
  const { find, print, seat } = machine()
  const { crew, clock } = crewOf(context, { claude: seat('claude') }, { find })
  await crew.spawn({ ...place, agent: 'claude', task: 'go' })
  await clock.turn(200)
  print(1, `${'a'.repeat(60)}!\n`)
  const read = (pattern: string) => crew.read(1, { lines: 50, until: 0, pattern })
  await assert.rejects(read('('), { message: /^pattern: Invalid regular expression: / })
  await golden.rejects(context, read('^(a+)+$'))
  await settled()
})

test('new rows are those after the end of the last read, even when its last row was drawn over', () => {
  const rows = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `row ${from + i}`)
  assert.deepEqual(newRows([], rows(0, 3)), rows(0, 3))
  assert.deepEqual(newRows(rows(0, 40), rows(10, 45)), rows(40, 45))
  assert.deepEqual(newRows([...rows(0, 40), '> '], [...rows(0, 40), '> run', 'done']), ['> run', 'done'])
  assert.deepEqual(newRows(['$'], ['$', 'ls', '$']), ['ls', '$'])
  assert.deepEqual(newRows(rows(0, 40), ['another', 'screen']), ['another', 'screen'])
})

test('clean removes the drawing around the text, and nothing of the text', () => {
  const screen = [
    '╭──────────╮',
    '│ ✻ Hello  │',
    '╰──────────╯',
    '',
    '',
    '⏺ [termaite-response-a1b2c3]',
    '  | a | b |',
    '    indented code',
    '[/termaite-response-a1b2c3]',
    '─────────────',
    '> ',
  ]
  assert.deepEqual(cleanRows(screen), ['✻ Hello', '', 'a | b', '    indented code', '>'])
})
