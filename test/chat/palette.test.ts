import type { Command } from '../../src/core/talk/command.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../cases.ts'
import { stripTerminalSequences, visibleWidth } from '@earendil-works/pi-tui'
import { Palette } from '../../src/chat/palette.ts'
import { findCommands } from '../../src/chat/desk/command-search.ts'
import { plain } from '../../src/chat/style/theme.ts'
import { command, kitty, legacy, pasted } from './input-seat.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const commands = [
  command('agents', { help: 'Who can take a turn' }),
  command('switch', { words: '[agent]', help: 'Who takes the next turn', matters: true }),
  command('help', { help: 'What can be typed', matters: true }),
  command('history', { help: 'What was said' }),
]

function open(query = '', all: readonly Command[] = commands) {
  const picked: string[] = []
  let closed = 0
  const pick = ({ name }: Command) => picked.push(name)
  const palette = new Palette({
    theme: plain,
    commands: all,
    query,
    lines: () => 12,
    pick,
    showKeys: () => picked.push('?'),
    close: () => closed++,
  })
  palette.focused = true
  return {
    picked,
    closes: () => closed,
    press: (...keys: string[]) => keys.forEach((key) => palette.handleInput(key)),
    lines: (width = 60) => palette.render(width).map(stripTerminalSequences),
    palette,
  }
}

test('important commands come first, each with its help', () => {
  assert.deepEqual(open().lines(), [
    '── Commands ────────────────────────────────────────────────',
    ' /                                                          ',
    ' › /switch [agent]  Who takes the next turn                 ',
    '   /help            What can be typed                       ',
    '   /agents          Who can take a turn                     ',
    '   /history         What was said                           ',
    ' Enter picks · ? keys · Esc closes                          ',
  ])
})

test('a description is wrapped and never cut, beside its name or below it', () => {
  const help = 'Skill: reads the changelog of a package and says what an update would break in this project'
  const all = [command('news', { words: '[package]', help }), command('help', { help: 'What can be typed' })]
  const { lines, press, picked, palette } = open('', all)
  assert.deepEqual(lines(60).slice(2, -1), [
    ' › /news [package]  Skill: reads the changelog of a package ',
    '                    and says what an update would break in  ',
    '                    this project                            ',
    '   /help            What can be typed                       ',
  ])
  assert.deepEqual(lines(40).slice(2, -1), [
    ' › /news [package]                      ',
    '     Skill: reads the changelog of a    ',
    '     package and says what an update    ',
    '     would break in this project        ',
    '   /help                                ',
    '     What can be typed                  ',
  ])
  palette.handleMouse({
    ...{ x: 9, y: 6, screenX: 9, screenY: 6, width: 40, height: 10, shift: false, alt: false, ctrl: false },
    type: 'click',
    button: 'left',
  })
  press(legacy.up, legacy.enter)
  assert.deepEqual(picked, ['help', 'news'])
})

test('the chosen command is whole in sight, however high the others are', () => {
  const all = Array.from({ length: 9 }, (_, at) => command(`c${at}`, { help: `${'word '.repeat(3 + at * 5)}end${at}` }))
  const { lines, press } = open('', all)
  for (let at = 0; at < 20; at++) {
    const shown = lines(44).join('\n')
    assert.match(shown, new RegExp(`› /c${at % 9} [^›]*end${at % 9}`), shown)
    assert.ok(lines(44).length <= 16)
    press(legacy.down)
  }
})

test('a name is found by its letters, and by a word of its help after that', () => {
  const found = (typed: string) => findCommands(commands, typed).map(({ name }) => name)
  assert.deepEqual(
    [found('h'), found('hs'), found('TURN'), found('who next'), found('hlep'), found('zz')],
    [['help', 'history', 'switch'], ['history'], ['switch', 'agents'], ['switch'], [], []],
  )
})

test('typing narrows, Enter picks, Esc closes', () => {
  for (const key of [legacy, kitty]) {
    const { picked, closes, press } = open()
    press('h', 'i', key.enter, key.escape)
    assert.deepEqual({ picked, closes: closes() }, { picked: ['history'], closes: 1 })
  }
})

test('a paste picks nothing, not even one with an end mark inside', () => {
  const { picked, press, lines } = open()
  press(pasted('his\x1b[201~\r'))
  assert.deepEqual([picked, lines(40)[1]], [[], ' /his                                   '])
})

test('arrow keys go round, and the first query can be edited', (t) => {
  const { picked, press, lines } = open('hx')
  golden(t, lines()[2])
  press(legacy.enter, legacy.backspace, legacy.up, legacy.enter, legacy.down, legacy.enter)
  assert.deepEqual(picked, ['switch', 'help'])
})

test('more than a dozen scroll, and say where one is', () => {
  const many = Array.from({ length: 30 }, (_, at) => command(`c${at + 1}`))
  const { press, lines } = open('', many)
  press(...Array.from({ length: 14 }, () => legacy.down))
  const shown = lines(40)
  assert.deepEqual(
    [shown.length, shown[2], shown.at(-2), shown.at(-1)],
    [
      15,
      '   /c4   what c4 does                   ',
      ' › /c15  what c15 does                  ',
      ' 15 of 30 · Enter picks · ? keys · Esc …',
    ],
  )
})

test('a click picks the row it is on', () => {
  const { picked, palette } = open()
  palette.render(60)
  const at = { x: 9, y: 3, screenX: 9, screenY: 3, width: 60, height: 8, shift: false, alt: false, ctrl: false }
  palette.handleMouse({ ...at, type: 'click', button: 'left' })
  assert.deepEqual(picked, ['help'])
})

test('no line is wider than the palette, whatever is pasted', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 20, max: 200 }), (text, width) => {
      const { palette, press, lines } = open()
      press(pasted(text))
      for (const line of palette.render(width)) assert.equal(visibleWidth(line), width)
      assert.doesNotMatch(lines(width).join(''), /[\x00-\x1f\x7f-\x9f]/)
    }),
    { numRuns: 80 },
  )
})
