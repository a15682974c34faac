import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../cases.ts'
import type { Event } from '../../src/core/talk/entry.ts'
import { screenBefore, echoRow, rowsSince, rowsText } from '../../src/agents/screen/screen-answer.ts'
import { ScreenReporter } from '../../src/agents/screen/turn-follower.ts'

const reader = { busy: /\(esc to interrupt\)/, idle: /^[>❯] /m }
const screenOf = (rows: string[], row = 0) => ({ rows, cols: 80, cursor: { row, col: 0 } })
const since = (rows: string[], text: string, before?: string[]) =>
  rowsSince(rows, { text, ...(before ? { before: screenBefore(screenOf(before), reader) } : {}) }, reader)

test('a prompt is found however it is folded, framed or indented', () => {
  for (const rows of [
    ['> fix the bug in the parser'],
    ['> fix the bug', '  in the parser'],
    ['│ > fix the │', '│   bug in  │', '│   the     │', '│   parser  │'],
    ['❯ fix the bug in th', 'e parser'],
  ])
    assert.equal(echoRow(rows, { text: 'fix the bug in the parser' }), rows.length - 1)
  assert.equal(echoRow(['please fix the bug in the parser now'], { text: 'fix the bug in the parser' }), -1)
  assert.equal(echoRow(['> yes', 'said', '> yes', 'again', '> '], { text: 'yes' }), 2)
})

test('a prompt is found however its emoji and combining marks are shown', () => {
  const text = 'thing 14: 👍🏽 nai\u0308ve 👨‍👩‍👧 ❤️ 🇩🇪 done'
  for (const row of [
    '$ thing 14: 👍🏽 naïve 👨‍👩‍👧 ❤️ 🇩🇪 done',
    '$ thing 14: \ufffd\ufffd\ufffd\ufffd naïve 👨👩👧 ❤  done',
    '$ thing 14: 👍 naïve done',
  ])
    assert.equal(echoRow([row], { text }), 0, row)
  assert.equal(echoRow(['$ 👍', 'yes', '$ '], { text: '👍' }), 0)
  assert.equal(echoRow(['$ 🎉', 'yes', '$ '], { text: '👍' }), -1)
})

test('the answer is between the prompt and the composer', () => {
  const before = ['hello', '> old', 'old answer', '', '────', '> ', '────', 'model · 3 %']
  const now = [
    ...before.slice(0, 3),
    '> new',
    '',
    '• new answer',
    '  second line',
    '',
    '────',
    '> ',
    '────',
    'model · 4 %',
  ]
  assert.deepEqual(since(now, 'new', before), { rows: ['• new answer', '  second line'], whole: true })
  assert.equal(rowsText(since(now, 'new', before).rows, 80, reader), 'new answer\nsecond line')
})

test('the same prompt again is told from the first by the rows before it', () => {
  const before = ['> go on', 'one', '> ']
  const now = ['> go on', 'one', '> go on', 'two: you said', 'go on', '> ']
  assert.deepEqual(since(now, 'go on', before).rows, ['two: you said', 'go on'])
})

test('without an idle mark the composer is where the cursor is', () => {
  const before = screenBefore(screenOf(['$ date', 'Sunday', '$'], 2), {})
  const now = ['$ date', 'Sunday', '$ echo hi', 'hi', '$']
  assert.deepEqual(rowsSince(now, { text: 'echo hi', before }, {}), { rows: ['hi'], whole: true })
})

test('a prompt that is shown as something else is skipped by the rows before it', () => {
  const before = ['> first', 'one', '> ']
  const now = ['> first', 'one', '> [Pasted 3 lines]', 'two', '> ']
  assert.deepEqual(since(now, 'a\nb\nc', before), { rows: ['> [Pasted 3 lines]', 'two'], whole: true })
})

test("the composer's rows are no part of an answer, also while the program works", () => {
  const before = ['> Ask me anything', '', '  model default · ~/project', '  ? for shortcuts']
  const now = ['› do it', 'half', '', '* working (esc to interrupt)', ...before.slice(1)]
  assert.equal(rowsText(since(now, 'do it', before).rows, 80, reader), 'half')
})

test('without the prompt and the earlier rows in sight, the answer is marked as cut at its beginning', () => {
  assert.deepEqual(since(['row 61', 'row 62', '> '], 'count', ['> old', 'x', '> ']), {
    rows: ['row 61', 'row 62'],
    whole: false,
  })
})

test('rows that the terminal folded are joined, and a frame that fills the width is not', () => {
  const wide = 'x'.repeat(20)
  assert.equal(rowsText([wide, 'yz', '─'.repeat(20), 'end'], 20, reader), `${wide}yz\n${'─'.repeat(20)}\nend`)
})

test('property: an answer between its prompt and the composer comes back whole', () => {
  const word = fc.stringMatching(/^[a-z]{1,12}$/)
  const line = fc.array(word, { minLength: 1, maxLength: 5 }).map((words) => words.join(' '))
  const lines = fc.array(line, { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(lines, line, lines, (old, prompt, answer) => {
      const before = [...old, '> ']
      const now = [...old, `> ${prompt}`, ...answer, '> ']
      assert.deepEqual(since(now, prompt, before), { rows: answer, whole: true })
    }),
  )
})

/** The text that is reported of a screen that goes through these texts. */
async function told(...texts: string[]): Promise<string> {
  let said = ''
  const telling = new ScreenReporter(async (event: Event) => void (said += event.type === 'text' ? event.delta : ''))
  for (const text of texts) await telling.tell(text)
  await telling.tell(texts.at(-1)!, true)
  return said
}

test('text that grows, scrolls or is drawn again is emitted once', async () => {
  assert.equal(await told('a', 'a\nb', 'a\nb\nc'), 'a\nb\nc')
  assert.equal(await told('one two', 'one two', 'one two three\nfour'), 'one two three\nfour')
  assert.equal(await told('a\nb\nc', 'b\nc\nd', 'c\nd\ne'), 'a\nb\nc\nd\ne')
  assert.equal(await told('a\nb\nc', 'x\nb\nc', 'x\nb\nc\nd'), 'a\nb\nx\nc\nd')
})

test('a last line that changes all the time is reported when it stands still', async () => {
  assert.equal(await told('a\n1 s', 'a\n2 s', 'a\n3 s', 'a\ndone'), 'a\ndone')
})

test('however much is drawn, only a bounded part is reported', async () => {
  const lines = (from: number) => Array.from({ length: 1000 }, (_, at) => `${from + at} ${'x'.repeat(90)}`).join('\n')
  const said = await told(...Array.from({ length: 50 }, (_, at) => lines(at * 1000)))
  assert.ok(said.length > 200_000 && said.length < 500_000, `${said.length} characters`)
})
