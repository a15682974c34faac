import type { ListRow, ListView } from '../../src/core/talk/command.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../cases.ts'
import { stripTerminalSequences, visibleWidth } from '@earendil-works/pi-tui'
import { ListPanel } from '../../src/chat/list-panel.ts'
import { plain } from '../../src/chat/style/theme.ts'
import { settled } from '../hand-clock.ts'
import { goldenOf } from '../golden.ts'
import { pasted } from './input-seat.ts'

const golden = goldenOf(import.meta.filename)

const escape = '\u001b'
const [up, down, pageDown] = ['\u001b[A', '\u001b[B', '\u001b[6~']
const [ctrlD, ctrlR] = ['\u0004', '\u0012']

const rows: ListRow[] = [
  { id: 'a', title: 'fix the flaky test', cells: ['claude, codex', '3 turns', '2 h ago'] },
  { id: 'b', title: '↳ another way', cells: ['codex', '1 turn', '3 h ago'] },
  { id: 'c', title: 'write the notes', cells: ['', '12 turns', '4 days ago'], note: 'the notes of this release' },
]

async function open(
  all: readonly ListRow[] = rows,
  { lines = 12, act }: { lines?: number; act?: ListView['act'] } = {},
) {
  const acts: unknown[] = []
  let closes = 0
  const view: ListView = {
    name: 'sessions',
    title: 'Sessions',
    searches: true,
    empty: (typed) => (typed === '' ? 'There is nothing.' : `Nothing has ${typed}.`),
    actions: { open: 'opens', rename: 'renames', delete: 'deletes' },
    rows: async (typed) => all.filter(({ title }) => title.includes(typed)),
    act: async (action, row, talk) => {
      acts.push([action, row?.id])
      return act?.(action, row, talk)
    },
  }
  const panel = new ListPanel({ theme: plain, view, lines: () => lines, repaint: () => {}, close: () => closes++ })
  panel.focused = true
  await settled()
  return {
    panel,
    acts,
    closes: () => closes,
    lines: (width = 80) => panel.render(width).map(stripTerminalSequences),
    press: async (...keys: string[]) => {
      for (const key of keys) {
        panel.handleInput(key)
        await settled()
      }
    },
  }
}

test('rows have their cells in columns, the chosen one a mark, and the keys are below', async (t) => {
  const { lines, press, acts } = await open()
  golden(t, lines().join('\n'))
  await press(down, down)
  golden(t, lines(52).join('\n'))
  await press(down, up, '\r', ctrlD)
  assert.deepEqual(acts, [
    ['open', 'c'],
    ['delete', 'c'],
  ])
})

test('typing searches, Esc empties the search and then closes', async (t) => {
  const { lines, press, closes } = await open()
  await press(...'notes')
  golden(t, lines().join('\n'))
  await press(pasted(' and more'))
  golden(t, lines().join('\n'))
  await press(escape)
  assert.equal(closes(), 0)
  assert.equal(lines().filter((line) => line.includes('turn')).length, 3)
  await press(escape)
  assert.equal(closes(), 1)
})

test('an action asks for a line or a yes in the list, and its words or its fault are shown', async (t) => {
  const said: unknown[] = []
  const { lines, press } = await open(rows, {
    act: async (action, row, talk) => {
      if (action === 'rename') {
        const name = await talk.line('New name', row!.title)
        said.push(name)
        return name === undefined ? undefined : `It is now called ${name}.`
      }
      const yes = await talk.sure(`Delete “${row!.title}” for good?`)
      said.push(yes)
      if (yes) throw new Error('The disk is full.')
      return undefined
    },
  })
  await press(ctrlR, ...' now')
  golden(t, lines().join('\n'))
  await press('\r')
  golden(t, lines().join('\n'))
  await press(ctrlR, escape, ctrlD)
  golden(t, lines().join('\n'))
  await press('n', ctrlD, 'x', down, 'y')
  golden(t, lines().join('\n'))
  assert.deepEqual(said, ['fix the flaky test now', undefined, false, true])
})

test('control sequences in the words of a question, of an action and of a search never reach the terminal', async () => {
  const hostile = 'evil\u001b[2J\u001b]0;title\u0007\u202e'
  const at = await open(rows, {
    act: async (_action, _row, talk) => ((await talk.sure(hostile)) ? hostile : Promise.reject(new Error(hostile))),
  })
  const lines: string[] = []
  for (const key of [ctrlD, 'y', ctrlD, 'n', 'x']) {
    at.panel.handleInput(key)
    await settled()
    lines.push(...at.panel.render(60))
  }
  const unstyled = stripTerminalSequences(lines.join('\n')).split('\n')
  assert.equal(unstyled.filter((line) => line.includes('evil⟨U+202E⟩')).length, 4)
  assert.deepEqual(
    lines.filter((line) => line.includes('\u001b[2J') || line.includes('\u001b]') || line.includes('\u202e')),
    [],
  )
})

test('a list without rows says so, and its keys do no harm', async (t) => {
  const { lines, press, acts } = await open([])
  golden(t, lines().join('\n'))
  await press(up, down, pageDown, '\r')
  assert.deepEqual(acts, [['open', undefined]])
})

test('of many rows the chosen one is always seen, and its place is said', async (t) => {
  const many = Array.from({ length: 500 }, (_, at) => ({ id: `${at}`, title: `session ${at}`, cells: ['1 turn'] }))
  const { lines, press } = await open(many, { lines: 8 })
  await press(up)
  golden(t, lines(40).join('\n'))
  await press(pageDown, down, pageDown)
  golden(t, lines(40).join('\n'))
})

test('whatever the rows are, every line has exactly the width, and no more lines than there is room', async () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('長い名前'.repeat(30), '\u001b[31mred\u202e', '👩‍👩‍👧‍👦'.repeat(9)),
  )
  const row = fc.record(
    { id: fc.uuid(), title: text, cells: fc.array(text, { maxLength: 3 }), note: text },
    { requiredKeys: ['id', 'title'] },
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { maxLength: 20 }),
      fc.integer({ min: 12, max: 200 }),
      fc.integer({ min: 6, max: 30 }),
      fc.integer({ min: 0, max: 25 }),
      async (all, width, room, steps) => {
        const { panel, press } = await open(all, { lines: room })
        await press(...Array.from({ length: steps }, () => down))
        const lines = panel.render(width)
        assert.deepEqual([...new Set(lines.map((line) => visibleWidth(line)))], [width])
        assert.ok(lines.every((line) => !/[\u202e\n]/.test(line)))
      },
    ),
  )
})
