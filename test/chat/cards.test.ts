import type { Question } from '../../src/core/talk/question.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../cases.ts'
import { CURSOR_MARKER, stripTerminalSequences, visibleWidth } from '@earendil-works/pi-tui'
import { HandClock } from '../hand-clock.ts'
import { Card } from '../../src/chat/cards/card.ts'
import { questionText } from '../../src/questions/question-text.ts'
import { dark, plain } from '../../src/chat/style/theme.ts'
import { consentOptions } from '../../src/core/talk/consent.ts'
import { kitty, legacy, pasted } from './input-seat.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const permission: Question = {
  about: 'permission',
  text: 'May I clean the build?',
  from: [],
  shows: [{ type: 'command', command: 'rm -rf build && npm test', cwd: '/home/ada/demo' }],
  options: consentOptions({
    once: { id: 'once', label: 'Yes, once' },
    always: { id: 'always', label: 'Yes, always', grants: 'rm below build' },
    no: { id: 'no', label: 'No' },
  }),
}

const pageDown = '\x1b[6~'

const choice: Question = {
  about: 'choice',
  text: 'Which ones?',
  from: ['consensus', 'critic'],
  options: ['a', 'b', 'c'].map((id) => ({ id, label: `Take ${id}` })),
}

/** A card that has been open long enough to be answered. */
async function shown(question: Question, parts: { by?: string; rows?: number; fresh?: boolean } = {}) {
  const clock = new HandClock()
  const answers: (string[] | undefined)[] = []
  let changes = 0
  const card = new Card({
    theme: plain,
    question,
    clock,
    ...(parts.by ? { by: parts.by } : {}),
    ...(parts.rows ? { rows: () => parts.rows! } : {}),
    changed: () => changes++,
    answer: (picks) => answers.push(picks),
  })
  card.focused = true
  card.render(50)
  changes = 0
  if (!parts.fresh) await clock.turn(1000)
  return {
    card,
    clock,
    answers,
    /** Paints since the card takes keys. */
    changes: () => changes - Number(!parts.fresh),
    press: (...keys: string[]) => keys.forEach((key) => card.handleInput(key)),
    lines: (width = 50) => card.render(width).map(stripTerminalSequences),
  }
}

test('a permission shows who asks, for what, and what a yes covers', async () => {
  const { lines } = await shown(permission, { by: 'claude' })
  assert.deepEqual(lines(), [
    '── claude asks for permission ────────────────────',
    ' May I clean the build?                           ',
    '                                                  ',
    ' $ rm -rf build && npm test                       ',
    '   in /home/ada/demo                              ',
    '                                                  ',
    ' › 1 Yes, once                                    ',
    '   2 Yes, always                                  ',
    '     covers: rm below build                       ',
    '   3 No                                           ',
    '                                                  ',
    ' 1–3 or Enter answers · Esc: No                   ',
  ])
})

test('without room for everything, the answers stay in sight, and the body is read by page', async (t) => {
  const { lines, press } = await shown(permission, { by: 'claude', rows: 6 })
  const inner = () => [...lines().slice(1), ''].map((line) => line.replace(/^ |^── | ─+$/g, '').trimEnd())
  const seen = [inner()]
  press(pageDown)
  seen.push(inner())
  press(pageDown, kitty.down)
  seen.push(inner())
  golden(t, seen)
})

test('a number, or arrows and Enter, answer once', async () => {
  const byNumber = await shown(permission)
  byNumber.press('5', '2', '1', legacy.escape)
  const byArrows = await shown(permission)
  byArrows.press(kitty.down, kitty.down, kitty.down, kitty.up, kitty.enter, kitty.enter)
  assert.deepEqual([byNumber.answers, byArrows.answers], [[['always']], [['no']]])
})

test('a click answers with the row it is on, below a whole body and below a page of one', async () => {
  const click = async (rows: number, words: string) => {
    const { card, answers, lines } = await shown(permission, { rows })
    const shownLines = lines()
    const y = shownLines.findIndex((line) => line.includes(words))
    const x = shownLines[y]!.indexOf(words)
    const at = { x, y, screenX: x, screenY: y, width: 50, height: 20, shift: false, alt: false, ctrl: false }
    card.handleMouse({ ...at, type: 'click', button: 'left' })
    return answers
  }
  assert.deepEqual(
    [await click(30, 'Yes, once'), await click(30, 'No'), await click(6, 'Yes, once'), await click(6, 'No')],
    [[['once']], [['no']], [['once']], [['no']]],
  )
})

test('a question of trust begins at its no, whoever asks and whatever the asker would preselect', async () => {
  const options = consentOptions({
    always: { id: 'trust', label: 'Yes, trust it', grants: 'this folder' },
    no: { id: 'no', label: 'No' },
  })
  const trust: Question = { about: 'trust', text: 'Trust this folder?', from: [], options }
  const answered = async (question: Question, ...keys: string[]) => {
    const { press, answers } = await shown(question)
    press(...keys)
    return answers
  }
  assert.deepEqual(
    [
      await answered(trust, kitty.enter),
      await answered({ ...trust, enter: 'trust' }, kitty.enter),
      await answered(trust, legacy.escape),
      await answered(trust, kitty.up, kitty.enter),
      await answered(trust, '2'),
    ],
    [[['no']], [['no']], [['no']], [['trust']], [['trust']]],
  )
})

test('the numbers have no gap where a card offers fewer answers, and a number that it does not show does nothing', async () => {
  const [once, , no] = permission.options
  const { answers, press, lines } = await shown({ ...permission, options: [once!, no!] })
  assert.deepEqual(
    lines()
      .slice(6, 10)
      .map((line) => line.slice(1).trimEnd()),
    ['› 1 Yes, once', '  2 No', '', '1, 2 or Enter answers · Esc: No'],
  )
  press('3', '4')
  assert.deepEqual(answers, [])
  press('2')
  assert.deepEqual(answers, [['no']])
})

test('Escape gives the answer that the card names', async (t) => {
  const options = ['a', 'b'].map((id) => ({ id, label: `Take ${id}` }))
  const ask: Omit<Question, 'about'> = { text: 'So?', from: [], options, agent: 'gemini' }
  const kinds = ['permission', 'choice', 'trust', 'login', 'quota', 'silence', 'denied', 'sharing'] as const
  const cards: Question[] = [
    ...kinds.map((about) => ({ ...ask, about })),
    permission,
    { ...ask, about: 'silence', escape: 'b' },
    { ...permission, unanswered: 'stop here and keep the text', cancels: true },
  ]
  const seen = []
  for (const question of cards) {
    const { answers, press, lines } = await shown(question)
    const [title, hint] = [lines(80)[0]!, lines(80).at(-1)!.trimEnd()]
    press(legacy.escape)
    seen.push([title.replaceAll(/[╭─╮]/g, '').trim(), hint.replace(/.*(Esc: .*?) *│/, '$1'), answers])
  }
  golden(t, seen)
})

test('several options are marked with Space or their numbers', async () => {
  const { answers, press, lines } = await shown({ ...choice, multiple: true }, { by: 'claude' })
  press(' ', '3', '2', '2')
  assert.deepEqual(lines(44), [
    '── claude asks · consensus · critic ────────',
    ' Which ones?                                ',
    '                                            ',
    '   1 [x] Take a                             ',
    ' › 2 [ ] Take b                             ',
    '   3 [x] Take c                             ',
    '                                            ',
    ' Space marks · Enter answers · Esc: leave   ',
    ' this unanswered                            ',
  ])
  press(legacy.enter)
  assert.deepEqual(answers, [['a', 'c']])
})

test('on a card whose order matters, suggested options are marked and rows move by Alt, Shift or brackets', async (t) => {
  const question: Question = { ...choice, multiple: true, ordered: true, marked: ['a', 'c'] }
  const { answers, press, lines } = await shown(question, { by: 'claude' })
  golden(t, lines(44))
  const rows = () =>
    lines(44)
      .slice(3, 6)
      .map((line) => line.slice(1, 16).trimEnd())
  for (const [down, up] of [
    ['\x1b[1;3B', '\x1b[1;3A'],
    ['\x1b[1;2B', '\x1b[1;2A'],
    [']', '['],
    ['\x1b[93u', '\x1b[91u'],
  ]) {
    press(down!)
    assert.deepEqual(rows(), ['  1 [ ] Take b', '› 2 [x] Take a', '  3 [x] Take c'], JSON.stringify(down))
    press(up!, up!)
    assert.deepEqual(rows(), ['› 1 [x] Take a', '  2 [ ] Take b', '  3 [x] Take c'], JSON.stringify(up))
  }
  // A number is that of the row as it stands now.
  press(']', ']', ']', '1')
  assert.deepEqual(rows(), ['› 1 [x] Take b', '  2 [x] Take c', '  3 [x] Take a'])
  press(legacy.enter)
  assert.deepEqual(answers, [['b', 'c', 'a']])
})

test("the person's own words are an answer: a letter begins them, a digit continues them", async (t) => {
  const { answers, press, lines } = await shown({ ...choice, free: true })
  golden(t, lines(40)[6])
  press('t', 'a', 'k', 'e', ' ', '2')
  assert.equal(lines(40)[6], ' › ✎ take 2                             ')
  press(legacy.enter)
  assert.deepEqual(answers, [['take 2']])
})

test('a secret shows how much was typed or pasted, and nothing of it', async (t) => {
  const question: Question = { about: 'login', text: 'The key?', from: [], free: true, secret: true, options: [] }
  const { answers, clock, press, lines } = await shown(question)
  golden(t, lines(40)[3])
  press('s', 'k', pasted('-made-up'))
  assert.equal(lines(40)[3], ' › ✎ ••••••••••                         ')
  await clock.turn(30)
  press(legacy.enter)
  assert.deepEqual(answers, [['sk-made-up']])
})

test('an empty line answers nothing', async () => {
  const { answers, press } = await shown({ about: 'choice', text: 'Your name?', from: [], free: true, options: [] })
  press(legacy.enter, ' ', legacy.enter, 'A', legacy.enter)
  assert.deepEqual(answers, [['A']])
})

test('keys typed while the card opens answer nothing, however long the typing goes on, and the card says so', async (t) => {
  const { card, answers, clock, press, lines } = await shown(permission, { fresh: true })
  const hint = () => lines().at(-1)!.slice(1).trim()
  golden(t, hint())
  for (const key of ['o', 'k', ' ', '1', legacy.enter, legacy.escape]) {
    assert.equal(card.wants(key), false)
    press(key)
    await clock.turn(300)
  }
  golden(t, [answers, hint()])
  await clock.turn(100)
  assert.equal(hint(), '1–3 or Enter answers · Esc: No')
  press('1')
  assert.deepEqual(answers, [['once']])
})

test('a paste answers nothing, not even one with an end mark inside; it is text where text is asked for', async () => {
  const asked = await shown(permission)
  asked.press(pasted('1'), '1', legacy.enter, legacy.escape)
  const free = await shown({ ...choice, free: true })
  free.press(pasted('my\nown \x1b[2Jwords'), '1', legacy.enter)
  const line = free.lines(40)[6]
  await free.clock.turn(30)
  free.press(legacy.enter)
  assert.deepEqual(
    [asked.answers, line, free.answers],
    [[], ' › ✎ my own words1                      ', [['my own words1']]],
  )
})

test('letters that the card does not use go to the input, and no Enter or number after them answers, until an arrow key', async (t) => {
  const { card, answers, lines, press } = await shown(permission)
  for (const key of ['r', 'm', ' ', '1', legacy.enter]) assert.equal(card.wants(key), false)
  golden(t, lines(80).at(-1)!)
  press('x', '1', legacy.enter)
  assert.deepEqual(answers, [])
  press(legacy.down, legacy.enter)
  assert.deepEqual(answers, [['always']])
})

test('an arrow key and Enter that come with the card recall a prompt in the input, and answer nothing', async () => {
  const { answers, card } = await shown(permission, { fresh: true })
  assert.deepEqual(
    [legacy.up, legacy.enter].map((key) => card.wants(key)),
    [false, false],
  )
  assert.deepEqual(answers, [])
})

test('a card that is not painted yet takes no key, however long that takes', async () => {
  const clock = new HandClock()
  const card = new Card({ theme: plain, question: permission, clock, changed() {}, answer: () => assert.fail() })
  await clock.turn(60_000)
  const before = card.wants('1')
  card.render(80)
  const painted = card.wants('1')
  await clock.turn(400)
  assert.deepEqual([before, painted, card.wants('1')], [false, false, true])
})

test('an automatic pick is counted down, one paint a second, until the card is closed', async () => {
  const clock = new HandClock()
  let changes = 0
  const question: Question = { ...choice, about: 'quota', otherwise: { pick: 'a', at: clock.now() + 10_000 } }
  const card = new Card({ theme: plain, question, clock, changed: () => changes++, answer: () => {} })
  const count = () => stripTerminalSequences(card.render(60).at(-2)!).slice(1, 31)
  const seen = [count()]
  await clock.turn(3500)
  seen.push(count())
  const painted = changes
  card.close()
  await clock.turn(5000)
  assert.deepEqual(
    { seen, painted, changes, asleep: clock.asleep },
    {
      seen: ['“Take a” is picked in 10 s    ', '“Take a” is picked in 7 s     '],
      painted: 4,
      changes: 4,
      asleep: 0,
    },
  )
})

test('a clock that is set changes neither the countdown of a card nor its pause before it takes keys', async () => {
  const yearMs = 31_536_000_000
  for (const shiftMs of [yearMs, -yearMs]) {
    const clock = new HandClock()
    const question: Question = { ...choice, about: 'quota', otherwise: { pick: 'a', at: clock.now() + 10_000 } }
    const card = new Card({ theme: plain, question, clock, changed: () => {}, answer: () => {} })
    const count = () => stripTerminalSequences(card.render(60).at(-2)!).slice(1, 27).trimEnd()
    const seen = [count()]
    clock.set(clock.now() + shiftMs)
    const takes = [card.wants('1')]
    await clock.turn(3500)
    takes.push(card.wants('1'))
    seen.push(count())
    card.close()
    assert.deepEqual(
      { seen, takes },
      { seen: ['“Take a” is picked in 10 s', '“Take a” is picked in 7 s'], takes: [false, true] },
    )
  }
})

test('a card without a countdown never paints by itself', async () => {
  const { changes, clock } = await shown(permission)
  await clock.turn(60_000)
  assert.deepEqual({ changes: changes(), asleep: clock.asleep }, { changes: 0, asleep: 0 })
})

test('no text of an agent can draw, hide or reverse a command', async () => {
  const { lines } = await shown(
    {
      ...permission,
      text: 'Run \x1b[31mls\x1b[0m\x1b_ quietly\x07 \u202eplease',
      shows: [{ type: 'command', command: 'ls \x1b_; rm -rf ~ \x1b\\\x9b2J\u202e#', cwd: '/a\r/b' }],
      options: [{ id: 'x', label: 'Yes\n\x1b[2J\x07 1 No', grants: '\x1b]52;c;eA==\x07all' }],
    },
    { by: 'cl\x1b[2Jaude' },
  )
  assert.deepEqual(lines(60).slice(0, 9), [
    '── claude asks for permission ──────────────────────────────',
    ' Run ls_ quietly <U+202E>please                             ',
    '                                                            ',
    ' $ ls ␛_; rm -rf ~ ␛\\�2J<U+202E>#                           ',
    '   in /a␍/b                                                 ',
    '                                                            ',
    ' › 1 Yes 1 No                                               ',
    '     covers: ]52;c;eA==all                                  ',
    '                                                            ',
  ])
})

test('no line is wider than the card, at any width and for any question', async () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.constantFrom('日本語のテキスト', '👩‍👩‍👧', 'a'.repeat(300), '\x1b]0;x', '\t\t'),
  )
  const question: fc.Arbitrary<Question> = fc.record(
    {
      about: fc.constantFrom('permission', 'choice', 'trust', 'login', 'quota', 'silence', 'denied', 'sharing'),
      text,
      from: fc.array(text, { maxLength: 2 }),
      multiple: fc.boolean(),
      free: fc.boolean(),
      shows: fc.array(
        fc.oneof(
          fc.record({
            type: fc.constant('command' as const),
            command: text,
            cwd: text,
            marks: fc.array(fc.record({ from: fc.nat(3), to: fc.nat(60), why: text }), { maxLength: 2 }),
          }),
          fc.record({ type: fc.constant('diff' as const), path: text, before: text, after: text, danger: text }),
          fc.record({ type: fc.constant('text' as const), text }),
        ),
        { maxLength: 2 },
      ),
      options: fc.array(fc.record({ id: text, label: text, grants: text }), { maxLength: 12 }),
    },
    { requiredKeys: ['about', 'text', 'from', 'options'] },
  )
  await fc.assert(
    fc.asyncProperty(question, fc.integer({ min: 20, max: 200 }), async (asked, width) => {
      const { card, press } = await shown(asked, { by: 'claude' })
      press('\x0f')
      for (const line of card.render(width)) {
        assert.equal(visibleWidth(line), width)
        // Our own colours and the place of the cursor are the only sequences.
        const drawn = line.replaceAll(/\x1b\[[\d;:]*m/g, '').replaceAll(CURSOR_MARKER, '')
        assert.doesNotMatch(drawn, /[\x00-\x1f\x7f-\x9f]/)
      }
      assert.doesNotMatch((await questionText(asked)).replaceAll('\n', ''), /[\x00-\x1f\x7f-\x9f]/)
    }),
    { numRuns: 80 },
  )
})

test('each kind of card has its own colour', () => {
  const frame = (about: Question['about']) => {
    const card = new Card({
      theme: dark,
      question: { ...choice, about },
      clock: new HandClock(),
      changed() {},
      answer() {},
    })
    return card.render(60)[0]!.slice(0, 5)
  }
  assert.deepEqual(
    ['permission', 'choice', 'denied'].map((about) => frame(about as Question['about'])),
    ['\x1b[33m', '\x1b[36m', '\x1b[31m'],
  )
})
