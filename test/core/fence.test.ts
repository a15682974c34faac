import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../cases.ts'
import {
  fenceCloses,
  fenceInstruction,
  fenceMarks,
  findFence,
  nonceOf,
  plainMarks,
  unfolded,
} from '../../src/core/screen/fence.ts'

const marks = fenceMarks('a1b2c3')
const { open, close } = marks
const lines = (...rows: string[]) => rows.join('\n')

test('the marks of a turn follow from its id, and another turn has others', () => {
  assert.match(nonceOf('turn-1'), /^[0-9a-f]{6}$/)
  assert.equal(nonceOf('turn-1'), nonceOf('turn-1'))
  assert.notEqual(nonceOf('turn-1'), nonceOf('turn-2'))
})

test('the answer is inside the last closed fence', () => {
  const text = lines(open, 'first', close, 'more', `  ${open}  `, '', ' second', '  line ', close, '$ ')
  assert.deepEqual(findFence(text, marks), { answer: 'second\n line' })
})

test('marks that a screen adds to a line do not hide a fence', () => {
  const cases: [string, string][] = [
    ['the bullet of a message', lines(`⏺ ${open}`, '  the answer', `  ${close}`)],
    ['another bullet', lines(`✦ ${open}`, '  the answer', `  ${close}`)],
    ['a third one', lines(`• ${open}`, '  the answer', `  ${close}`)],
    ['an indent and trailing blanks', lines(`    ${open}   `, '    the answer', `    ${close}      `)],
    ['the borders of a box', lines(`│ ${open}   │`, '│ the answer              │', `│ ${close}  │`)],
    [
      'a screen of twenty columns',
      lines('[termaite-response-a', '1b2c3]', 'the answer', '[/termaite-response-', 'a1b2c3]'),
    ],
    [
      'a box of fourteen',
      lines('│ [termaite-r │', '│ esponse-a1b │', '│ 2c3] │', '│ the answer │', ...folded(close, 11)),
    ],
  ]
  for (const [name, text] of cases) assert.deepEqual(findFence(text, marks), { answer: 'the answer' }, name)
})

function folded(text: string, width: number): string[] {
  return text.match(new RegExp(`.{1,${width}}`, 'g'))!.map((part) => `│ ${part.padEnd(width)} │`)
}

test('a table inside a fence keeps its shape', () => {
  const text = lines(open, '│ a │ b │', '  1   2', close)
  assert.deepEqual(findFence(text, marks), { answer: '│ a │ b │\n  1   2' })
})

test('words about the fence, another turn’s, one left open and an empty one are no answer', () => {
  const talk = `I will put it between ${open} and ${close}, as you said.`
  for (const text of [
    '',
    talk,
    lines(`- ${open}`, 'x', `- ${close}`),
    lines(`"${open}"`, 'x', `"${close}"`),
    lines(`• ${open}`, `• ${close}`),
    lines(open, 'x'),
    lines('x', close),
    lines(close, 'x', open),
    lines(fenceMarks('ffffff').open, 'x', fenceMarks('ffffff').close),
    lines(plainMarks.open, 'x', plainMarks.close),
  ])
    assert.equal(findFence(text, marks), undefined, text)
})

test('a fence is closed, too, when its beginning has scrolled away', () => {
  assert.equal(fenceCloses(lines('the end of a long answer', close), marks), true)
  assert.equal(fenceCloses(lines(open, 'x', close, '$ '), marks), true)
  for (const text of [lines(close), lines(open, 'x'), lines(open, close), lines(close, 'x', open), 'x'])
    assert.equal(fenceCloses(text, marks), false, text)
})

const anyWidth = fc.integer({ min: 8, max: 200 })

/** As a terminal folds a line, and as a program does that keeps words together where it can. */
const folds: ((text: string, width: number) => string[])[] = [
  (text, width) => text.match(new RegExp(`.{1,${width}}`, 'gu')) ?? [],
  (text, width) =>
    (text.match(new RegExp(`\\S{${width}}|\\S.{0,${width - 1}}(?=\\s|$)|\\S+`, 'gu')) ?? []).map((row) => row.trim()),
]

test('property: an echoed instruction closes no fence, however wide the screen is', () => {
  const prompt = fc.string({ maxLength: 60 }).map((text) => text.replaceAll('\n', ' '))
  fc.assert(
    fc.property(
      prompt,
      anyWidth,
      fc.constantFrom(...folds),
      fc.constantFrom('', '> ', '│ '),
      (text, width, fold, lead) => {
        const echo = fold(`${text} ${fenceInstruction('a1b2c3')}`, width).map((row) => `${lead}${row}`)
        assert.equal(fenceCloses(echo.join('\n'), marks), false)
        assert.equal(fenceCloses([...echo, ...echo].join('\n'), marks), false)
      },
    ),
    { numRuns: 1000 },
  )
})

test('property: no text that lacks the nonce closes a fence', () => {
  const words = fc.constantFrom(
    '[termaite-response-',
    '[/termaite-response-',
    ']',
    open.slice(0, -2),
    'ffffff',
    '\n',
    ' ',
    '• ',
    '│',
  )
  const text = fc.array(fc.oneof(words, fc.string())).map((parts) => parts.join(''))
  fc.assert(
    fc.property(
      text.filter((one) => !one.includes('a1b2c3')),
      (one) => fenceCloses(one.replaceAll(/a1?b?2?c?3?(?=\s|$)/g, ''), marks) === false,
    ),
  )
})

test('property: whatever is inside comes back, trimmed', () => {
  const line = fc.string().filter((text) => !text.includes('response') && !/\n/.test(text))
  fc.assert(
    fc.property(fc.array(line), fc.array(line), (before, inside) => {
      const text = [...before, open, 'first', ...inside, close].join('\n')
      assert.deepEqual(findFence(text, marks), {
        answer: ['first', ...inside.map((row) => row.trimEnd())].join('\n').trim(),
      })
    }),
  )
})

test('rows are joined where the terminal folded them, by its columns and not by characters', () => {
  const cases: [string[], number, string[]][] = [
    [['aaaaaaaaaa', 'b'], 10, ['aaaaaaaaaab']],
    [['aaaaaaaaa', 'b'], 10, ['aaaaaaaaa', 'b']],
    [['日本語日本', '語です'], 10, ['日本語日本語です']],
    [['a日本語日', '語です'], 10, ['a日本語日語です']],
    [['a日本語日', 'b'], 10, ['a日本語日', 'b']],
    [['👩👩👩👩👩', 'b'], 10, ['👩👩👩👩👩b']],
    [['e\u0301'.repeat(9), 'b'], 10, ['e\u0301'.repeat(9), 'b']],
    [['ｱ'.repeat(10), 'b'], 10, [`${'ｱ'.repeat(10)}b`]],
  ]
  for (const [rows, cols, lines] of cases) assert.deepEqual(unfolded(rows, cols), lines)
})
