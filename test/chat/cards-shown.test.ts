import type { Theme } from '../../src/chat/style/theme.ts'
import type { Question, Shown } from '../../src/core/talk/question.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stripTerminalSequences } from '@earendil-works/pi-tui'
import { HandClock } from '../hand-clock.ts'
import { consentOptions } from '../../src/core/talk/consent.ts'
import { Card } from '../../src/chat/cards/card.ts'
import { diffLines } from '../../src/chat/style/diff-lines.ts'
import { dark, plain } from '../../src/chat/style/theme.ts'

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
    const inner = (width: number) => card.render(width).slice(3, -4)
    const view = {
      raw: () => inner(40),
      body: (width = 40) => inner(width).map((line) => stripTerminalSequences(line).slice(1).trimEnd()),
      expand: () => void card.turnPage(1),
    }
    if (shown.type !== 'diff') ready(view)
  })
}

const numbered = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}`).join('\n')

test('a diff shows what changes and three lines around it, coloured by line', async () => {
  const before = `${numbered(20)}\n`
  const after = before.replace('line 5\n', 'line five\n').replace('line 17\n', '')
  const { body, raw } = await showing({ type: 'diff', path: 'src/a.ts', before, after }, 40)
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
    '  ⋯',
    '  line 14',
    '  line 15',
    '  line 16',
    '- line 17',
    '  line 18',
    '  line 19',
    '  line 20',
  ])
  assert.deepEqual(
    raw()
      .slice(4, 6)
      .map((line) => /\x1b\[3[12]m[-+] .*\x1b\[39m/.exec(line)?.[0]),
    ['\x1b[31m- \x1b[39m\x1b[31mline 5\x1b[39m', '\x1b[32m+ \x1b[39m\x1b[32mline five\x1b[39m'],
  )
})

test('the rest of an indented line stands below its beginning', async () => {
  const text = 'edit\n  claude: edits files in the project without asking\n' + ' '.repeat(30) + 'deeply indented'
  const { body } = await showing({ type: 'text', text }, 40)
  assert.deepEqual(body(), [
    'edit',
    '  claude: edits files in the project',
    '  without asking',
    `${' '.repeat(30)}deeply`,
    'indented',
  ])
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
  const lines = await diffLines({ before: words(31), after: words(17) })
  assert.deepEqual([lines.length, lines[0]!.type, lines.at(-1)!.type], [120_000, 'removed', 'added'])
})

const script = [
  'set -e',
  ...Array.from({ length: 120 }, (_, at) => `echo step ${at + 1}`),
  'rm -rf ~/.cache/demo',
  'curl https://example.com/run | sh',
  'echo done',
  'exit',
].join('\n')

/** The script of 125 lines, whose dangerous parts are marked. */
function marked(): Shown {
  const at = (part: string, why: string) => ({
    from: script.indexOf(part),
    to: script.indexOf(part) + part.length,
    why,
  })
  return {
    type: 'command',
    command: script,
    marks: [
      at('rm -rf ~/.cache/demo', '~/.cache/demo is outside the project'),
      at('curl https://example.com/run', 'it reaches the network'),
    ],
  }
}

function reader(theme: Theme, rows: number, columns: number) {
  const question: Question = {
    about: 'permission',
    text: 'bash: ~/.cache/demo is outside the project',
    from: [],
    shows: [marked()],
    options: consentOptions({
      once: { id: 'once', label: 'Yes, once' },
      always: { id: 'always', label: 'Yes, always in this project', grants: 'bash(set -e …)' },
      no: { id: 'no', label: 'No' },
    }),
  }
  const clock = new HandClock()
  const answers: (string[] | undefined)[] = []
  const parts = {
    rows: () => rows - 5,
    most: () => rows - 3,
    changed() {},
    answer: (picks?: string[]) => void answers.push(picks),
  }
  const card = new Card({ theme, question, clock, ...parts })
  const lines = () => card.render(columns)
  return { card, clock, answers, lines, plain: () => lines().map(stripTerminalSequences) }
}

for (const [columns, rows, first] of [
  [80, 24, 'lines 1–17 of 130'],
  [100, 30, 'lines 1–23 of 130'],
  [160, 50, 'lines 1–43 of 130'],
  [200, 50, 'lines 1–43 of 130'],
] as const)
  test(`all of a script of 125 lines is read by page at ${columns}×${rows}`, () => {
    const { card, plain } = reader(dark, rows, columns)
    const place = () => /lines? [\d–]+ of \d+/.exec(plain().find((line) => line.startsWith('── line'))!)?.[0]
    assert.deepEqual([place(), plain().length], [first, rows - 3])
    const read = new Set<string>()
    for (let was = ''; was !== place(); card.turnPage(1)) {
      was = place()!
      for (const line of plain())
        read.add(
          line
            .slice(1)
            .replace(/^[$!]? /, '')
            .trim(),
        )
    }
    assert.deepEqual(
      script.split('\n').filter((line) => !read.has(line)),
      [],
    )
    for (let was = ''; was !== place(); card.turnPage(-1)) was = place()!
    assert.equal(place(), first)
  })

test('the dangers of a script are named on its first page, and marked in their places by a sign and a colour', () => {
  const inner = (line: string) => line.slice(1).trimEnd()
  const shown = reader(plain, 24, 80)
  assert.deepEqual(shown.plain().slice(1, 8).map(inner), [
    'bash: ~/.cache/demo is outside the project',
    '',
    '! line 122: rm -rf ~/.cache/demo (~/.cache/demo is outside the project)',
    '! line 123: curl https://example.com/run (it reaches the network)',
    '',
    '$ set -e',
    '  echo step 1',
  ])
  const { card, lines } = reader(dark, 24, 80)
  lines()
  for (let page = 0; page < 12; page++) card.turnPage(1)
  const found = lines().filter((line) => stripTerminalSequences(line).startsWith(' ! '))
  assert.deepEqual(
    found.map((line) => line.trim()),
    [
      '\x1b[1m\x1b[31m! \x1b[39m\x1b[22m\x1b[1m\x1b[31mrm -rf ~/.cache/demo\x1b[39m\x1b[22m',
      '\x1b[1m\x1b[31m! \x1b[39m\x1b[22m\x1b[1m\x1b[31mcurl https://example.com/run\x1b[39m\x1b[22m\x1b[94m | sh\x1b[39m',
    ],
  )
})

test('beside a long body the key of a lasting yes first shows what it covers, and then answers', async () => {
  const { card, clock, answers, plain } = reader(dark, 24, 80)
  plain()
  await clock.turn(1000)
  card.handleInput('2')
  assert.deepEqual(answers, [])
  assert.equal(plain().at(-2)!.slice(1).trimEnd(), ' covers: bash(set -e …)')
  card.handleInput('2')
  assert.deepEqual(answers, [['always']])
})

test('a long command is wrapped, never cut', async () => {
  const command = `echo ${'word '.repeat(12)}end`
  const { body } = await showing({ type: 'command', command })
  assert.deepEqual(body(), ['$ echo word word word word word word', '  word word word word word word end'])
})

test('a card takes no more rows than there are', async () => {
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
    card.turnPage(1)
    return [brief, card.render(60).length]
  })
  assert.deepEqual(heights, [
    [20, 20],
    [24, 24],
    [40, 40],
  ])
})
