import type { Question, Shown } from '../../../src/core/talk/question.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stripTerminalSequences } from '@earendil-works/pi-tui'
import { HandClock } from '../../../src/base/hand-clock.ts'
import { Card } from '../../../src/faces/chat/cards/card.ts'
import { diffLines } from '../../../src/faces/chat/diff-lines.ts'
import { dark } from '../../../src/faces/chat/theme.ts'

const expand = '\x0f'

/** A card with what it shows, once it has been compared. */
async function showing(shown: Shown, rows?: number) {
  const question: Question = {
    about: 'permission',
    text: 'May I?',
    from: [],
    shows: [shown],
    options: [{ id: 'yes', label: 'Yes' }],
  }
  return new Promise<{ body(width?: number): string[]; raw(): string[]; expand(): void }>((ready) => {
    const card = new Card({
      theme: dark,
      question,
      clock: new HandClock(),
      ...(rows ? { rows: () => rows } : {}),
      changed: () => ready(view),
      answer: () => {},
    })
    const inner = (width: number) => card.render(width).slice(3, -5)
    const view = {
      raw: () => inner(40),
      body: (width = 40) => inner(width).map((line) => stripTerminalSequences(line).slice(2, -2).trimEnd()),
      expand: () => card.handleInput(expand),
    }
    if (shown.type !== 'diff') ready(view)
  })
}

const numbered = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}`).join('\n')

test('a diff shows what changes and three lines around it, coloured by line', async () => {
  const before = `${numbered(20)}\n`
  const after = before.replace('line 5\n', 'line five\n').replace('line 17\n', '')
  const { body, raw } = await showing({ type: 'diff', path: 'src/a.ts', before, after })
  assert.deepEqual(body(), [
    'src/a.ts',
    '  line 2',
    '  line 3',
    '  line 4',
    '- line 5',
    '+ line five',
    '  line 6',
    '  line 7',
    '  line 8',
    '… 8 more lines, Ctrl+O shows all',
  ])
  assert.deepEqual(
    raw()
      .slice(4, 6)
      .map((line) => /\x1b\[3[12]m[-+] .*?\x1b\[39m/.exec(line)?.[0]),
    ['\x1b[31m- line 5\x1b[39m', '\x1b[32m+ line five\x1b[39m'],
  )
})

test('a single line is shown where the hint about it would take its row', async () => {
  const change = { type: 'diff', path: 'a.txt', before: 'hi\n', after: 'ho\n' } as const
  const { body, expand: open } = await showing(change, 11)
  assert.deepEqual(body(), ['a.txt', '- hi', '+ ho'])
  open()
  assert.deepEqual(body(), ['a.txt', '- hi', '+ ho'])
})

test('a new file is all added, and one that stays as it is says so', async () => {
  const fresh = await showing({ type: 'diff', path: 'new.ts', after: 'one\ntwo\n' })
  const same = await showing({ type: 'diff', path: 'same.ts', before: 'x\n', after: 'x\n' })
  assert.deepEqual(
    [fresh.body(), same.body()],
    [
      ['new.ts  new file', '+ one', '+ two'],
      ['same.ts', '  nothing changes'],
    ],
  )
})

test('a change that takes too long to compare is shown as the old and the new text', async () => {
  const words = (seed: number) =>
    Array.from({ length: 60_000 }, (_, at) => `${(at * seed) % 7919}.${(at * at * seed) % 104_729}`).join('\n')
  const lines = await diffLines({ type: 'diff', path: 'big', before: words(31), after: words(17) })
  assert.deepEqual([lines.length, lines[0]!.type, lines.at(-1)!.type], [120_000, 'removed', 'added'])
})

test('Ctrl+O shows all of it, page by page where there is no room, and less again', async () => {
  const { body, expand } = await showing({ type: 'text', text: numbered(30) }, 18)
  const seen = [body().at(-1)]
  for (let at = 0; at < 5; at++) {
    expand()
    seen.push(body().at(-1))
  }
  assert.deepEqual(seen, [
    '… 22 more lines, Ctrl+O shows all',
    'lines 1–11 of 32, Ctrl+O shows more',
    'lines 12–22 of 32, Ctrl+O shows more',
    'lines 23–32 of 32, Ctrl+O shows less',
    '… 22 more lines, Ctrl+O shows all',
    'lines 1–11 of 32, Ctrl+O shows more',
  ])
})

test('a long command is wrapped, never cut', async () => {
  const command = `echo ${'word '.repeat(12)}end`
  const { body } = await showing({ type: 'command', command })
  assert.deepEqual(body(), ['$ echo word word word word word word', '  word word word word word word end'])
})

test('a card takes no more rows than there are, and cuts its longest part', async () => {
  const question: Question = {
    about: 'permission',
    text: numbered(20),
    from: [],
    shows: [
      { type: 'text', text: numbered(40) },
      { type: 'command', command: numbered(40) },
    ],
    options: ['a', 'b', 'c'].map((id) => ({ id, label: id })),
  }
  const heights = [20, 24, 40].map((rows) => {
    const card = new Card({
      theme: dark,
      question,
      clock: new HandClock(),
      rows: () => rows,
      changed() {},
      answer() {},
    })
    const brief = card.render(60).length
    card.handleInput(expand)
    return [brief, card.render(60).length]
  })
  assert.deepEqual(heights, [
    [20, 20],
    [23, 24],
    [39, 40],
  ])
})
