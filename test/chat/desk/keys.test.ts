import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { TUI_KEYBINDINGS, stripTerminalSequences, visibleWidth } from '@earendil-works/pi-tui'
import type { Keybinding } from '@earendil-works/pi-tui'
import { actionOf, chatKeys, keyNames, keySections, libraryKeys } from '../../../src/chat/desk/keys.ts'
import { KeysPage, keyLines } from '../../../src/chat/keys-page.ts'
import { plain } from '../../../src/chat/style/theme.ts'
import { kitty, legacy, seat } from '../input-seat.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const timeout = 20_000

const page = keySections().flatMap(({ rows }) => rows)

/**
 * Keys of the library that never reach it here: the screen takes Ctrl+K and the page keys first, the input handles what is
 * sent and completed itself, and lists have keys of their own.
 */
const unusedBindings: readonly Keybinding[] = [
  'tui.editor.deleteToLineEnd',
  'tui.editor.pageUp',
  'tui.editor.pageDown',
  'tui.altScreen.pageUp',
  'tui.altScreen.pageDown',
  'tui.input.newLine',
  'tui.input.submit',
  'tui.input.tab',
  'tui.input.copy',
  'tui.select.up',
  'tui.select.down',
  'tui.select.pageUp',
  'tui.select.pageDown',
  'tui.select.confirm',
  'tui.select.cancel',
]

test('the page shows every key that the chat acts on', () => {
  for (const [place, rows] of Object.entries(chatKeys))
    for (const [action, { keys, does }] of Object.entries(rows))
      assert.ok(
        page.some((row) => row.keys === keyNames(keys) && row.does === does),
        `${place}.${action}`,
      )
})

test('the page shows every key that the screen library acts on, unless the chat takes it first', () => {
  for (const binding of Object.keys(TUI_KEYBINDINGS) as Keybinding[]) {
    const keys = libraryKeys.getKeys(binding)
    const shown = page.some((row) => row.keys === keyNames(keys))
    assert.ok(keys.length === 0 || shown || unusedBindings.includes(binding), binding)
  }
})

test('no part of the chat acts on a key that is not in the table', () => {
  const folder = join(import.meta.dirname, '../../../src/chat')
  const onCards = Object.values(chatKeys.card).flatMap(({ keys }) => keys.map(String))
  const strays = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && name !== 'keys.ts')
    .flatMap((name) => {
      const text = readFileSync(join(folder, name), 'utf8')
      const keys = [...text.matchAll(/matchesKey\(\w+, '([^']+)'\)/g)].map(([, key]) => key!)
      return keys.filter((key) => !name.startsWith('cards') || !onCards.includes(key)).map((key) => `${name}: ${key}`)
    })
  assert.deepEqual(strays, [])
})

test('each key of a place has one action, also as older terminals send it', () => {
  for (const [place, rows] of Object.entries(chatKeys)) {
    const keys = Object.values(rows).flatMap((row) => [...row.keys])
    assert.deepEqual(keys.length, new Set(keys).size, place)
  }
  assert.deepEqual(
    [legacy.altEnter, legacy.ctrlJ, kitty.shiftEnter, legacy.enter, '?', '\x1b[63u', 'x'].map((data) =>
      actionOf('input', data),
    ),
    ['newLine', 'newLine', 'newLine', 'send', 'keys', 'keys', undefined],
  )
  assert.deepEqual(
    ['\x1a', '\x1b[122;5u', '\x1b[122;5:3u', 'G', 'g', ' '].map((data) => [
      actionOf('screen', data),
      actionOf('page', data),
    ]),
    [
      ['suspend', undefined],
      ['suspend', undefined],
      [undefined, undefined],
      [undefined, 'bottom'],
      [undefined, 'top'],
      [undefined, 'pageDown'],
    ],
  )
})

test('keys are written as people write them', () => {
  assert.deepEqual(
    [['ctrl+c'], ['pageUp', 'b'], ['shift+g'], ['escape', '?'], ['ctrl+-'], ['ctrl+alt+]'], ['f1']].map((keys) =>
      keyNames(keys as never),
    ),
    ['Ctrl+C', 'PgUp, b', 'Shift+G', 'Esc, ?', 'Ctrl+-', 'Ctrl+Alt+]', 'F1'],
  )
})

test('the page can be read at any width: nothing is cut, and no line is too wide', () => {
  const squeezed = (text: string) => text.replaceAll(/\s+/g, '')
  for (const width of [20, 40, 76, 106]) {
    const lines = keyLines(width, plain).map(stripTerminalSequences)
    for (const line of lines) assert.ok(visibleWidth(line) <= width, line)
    const all = squeezed(lines.join(''))
    for (const { keys, does } of page) assert.ok(all.includes(squeezed(keys + does)), `${width}: ${keys} ${does}`)
  }
})

test('the page scrolls to its end and back, and closes', (t) => {
  let closed = 0
  const keys = new KeysPage({ theme: plain, lines: () => 22, close: () => closed++ })
  const shown = () => keys.render(80).map(stripTerminalSequences)
  const [first] = [shown()]
  golden(t, [first.length, first[1]!.trim()])
  golden(t, first.at(-1)!)
  keys.handleInput(legacy.down)
  assert.equal(shown()[1], first[2])
  keys.handleInput('\x1b[6~')
  assert.notEqual(shown()[1], first[2])
  keys.handleInput('\x1b[F')
  assert.match(shown().at(-1)!, /^ the end · /)
  golden(t, shown().at(-2)!)
  keys.handleInput('\x1b[H')
  assert.deepEqual(shown(), first)
  for (const key of [legacy.escape, 'q', '?']) keys.handleInput(key)
  assert.equal(closed, 3)
})

test('? shows the keys in an empty input, and is a character in a text', { timeout }, () => {
  const { press, type, palettes, lines } = seat()
  press('?')
  assert.deepEqual(palettes, ['the keys'])
  type('why?')
  assert.deepEqual(palettes, ['the keys'])
  assert.match(lines().join('\n'), /^ why\?/m)
})
