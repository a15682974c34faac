import type { Question } from '../../src/core/talk/question.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { stripAnsi } from '../../src/base/text/ansi.ts'
import { HandClock } from '../hand-clock.ts'
import { answered } from '../../src/questions/terminal-questions.ts'
import { until } from '../until.ts'
import { everyCard, longScript } from '../app/every-card.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const every = await everyCard()

/** A person at a terminal of a size who types the next line whenever they are asked for one. */
async function typing(question: Question, lines: readonly string[], rows?: number) {
  const keys = Object.assign(new PassThrough(), { isTTY: true })
  const err = Object.assign(new PassThrough(), { isTTY: true, columns: 80, ...(rows === undefined ? {} : { rows }) })
  const signal = new AbortController().signal
  const io = { env: {}, cwd: '/', in: keys, piped: false, out: new PassThrough(), err, clock: new HandClock(), signal }
  const pages: string[] = []
  let shown = ''
  let at = 0
  err.on('data', (data) => {
    shown += String(data)
    if (!shown.endsWith('> ')) return
    // The terminal echoes the line that was typed.
    const page = stripAnsi(shown.slice(0, -'> '.length)).trimEnd()
    pages.push(at === 0 ? page : page.slice(page.indexOf('\n') + 1))
    shown = ''
    keys.write(`${lines[at++]}\n`)
  })
  return { picks: await answered(io, question, signal), pages }
}

const tail = [
  '! line 122: rm -rf ~/.cache/demo (~/.cache/demo is outside the project)',
  '! line 123: curl https://example.com/run (it reaches the network)',
  'bash: ~/.cache/demo is outside the project; it reaches the network',
  '  1 Yes, once',
  '  2 Yes, always in this project (covers: bash(git push origin main))',
  '  3 No',
]

test('a question that is longer than the terminal is read page by page, with its danger beside every page', async (t) => {
  const { picks, pages } = await typing(every['long-script']!, [...Array<string>(8).fill('+'), '-', '3'], 24)
  assert.deepEqual(picks, ['no'])
  assert.equal(pages.length, 10)
  for (const page of pages) {
    const rows = page.split('\n')
    assert.equal(rows.length < 24, true, page)
    assert.deepEqual(rows.slice(-tail.length), tail)
  }
  const bodies = pages.slice(0, 9).map((page) => page.split('\n').slice(0, -tail.length - 1))
  const script = longScript.split('\n').map((line, at) => {
    const sign = /^(rm|curl)/.test(line) ? '! ' : at === 0 ? '$ ' : '  '
    return sign + line
  })
  assert.deepEqual(bodies.flat(), [...script, '  in /home/ada/demo'])
  golden(t, pages[0]!.split('\n')[15])
  assert.equal(pages[9], pages[7])
})

test('when the height of the terminal is not known, the question is printed whole, its danger beside the answers', async () => {
  const { picks, pages } = await typing(every['long-script']!, ['4', ''])
  assert.deepEqual(picks, ['no'])
  const rows = pages[0]!.split('\n')
  assert.equal(rows.length, 126 + tail.length)
  assert.deepEqual(rows.slice(-tail.length), tail)
  assert.equal(pages[1], 'Type one of 1, 2, 3, or press Enter alone: No.')
})

test('without colours a line of several commands says which of them is dangerous, and why', async () => {
  const command = 'git add . && git push origin main'
  const from = command.indexOf('git push')
  const marks = [{ from, to: command.length, why: 'it sends commits to a remote' }]
  const shows: Question['shows'] = [{ type: 'command', command, cwd: '/demo', marks }]
  const { pages } = await typing({ ...every.permission!, shows }, ['no'], 24)
  assert.deepEqual(pages[0]!.split('\n').slice(0, 4), [
    '! git add . && git push origin main',
    '  in /demo',
    '! git push origin main (it sends commits to a remote)',
    'bash: it sends commits to a remote',
  ])
})

test('keys that are typed before the question can be read are no answer, and the person is told so', async () => {
  const clock = new HandClock()
  const raw: boolean[] = []
  const setRawMode = (now: boolean) => raw.push(now)
  const keys = Object.assign(new PassThrough(), { isTTY: true, setRawMode })
  const err = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 24 })
  const signal = new AbortController().signal
  const io = { env: {}, cwd: '/', in: keys, piped: false, out: new PassThrough(), err, clock, signal }
  let shown = ''
  err.on('data', (data) => (shown += String(data)))
  keys.write('2\r')
  const answer = answered(io, every.permission!, signal)
  await until(() => raw.length === 1 && keys.readableLength === 0)
  await clock.turn(300)
  keys.write('1\r')
  await until(() => keys.readableLength === 0)
  await clock.turn(399)
  assert.equal(shown.endsWith('  3 No\n'), true)
  await clock.turn(1)
  const note = 'Not taken as the answer, because it was typed before the question was here: 2 ⏎ 1'
  await until(() => stripAnsi(shown).includes(`${note}\n> `))
  keys.write('3\n')
  assert.deepEqual(await answer, ['no'])
  assert.deepEqual(raw.slice(0, 2), [true, false])
})

test('a terminal that does not know its size is asked all the same, on one page', async () => {
  const plain: Question = { about: 'choice', text: 'Which?', from: [], options: [{ id: 'a', label: 'This one' }] }
  for (const question of [plain, every['long-script']!]) {
    const { picks, pages } = await typing(question, ['1'], 0)
    assert.deepEqual([picks, pages.length], [[question.options[0]!.id], 1])
  }
})
