import type { TestContext } from 'node:test'
import type { Script } from './scripted-desk.ts'
import type { Event } from '../../src/core/talk/entry.ts'
import type { Question } from '../../src/core/talk/question.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { stripAnsi } from '../../src/base/text/ansi.ts'
import { HandClock } from '../hand-clock.ts'
import { openLines } from '../../src/chat/line-chat.ts'
import { ScriptedDesk } from './scripted-desk.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 20_000 }

/** A person at a terminal of lines: they type, and read everything since they last looked. */
function sit(t: TestContext, script: Script = {}) {
  const desk = new ScriptedDesk(script)
  const [keys, paper] = [new PassThrough(), new PassThrough()]
  const stop = new AbortController()
  const clock = new HandClock()
  let read = ''
  let look = () => {}
  paper.on('data', (chunk) => {
    read += stripAnsi(String(chunk))
    look()
  })
  const over = openLines(desk, { in: keys, out: paper, clock, env: process.env, signal: stop.signal })
  t.after(async () => {
    stop.abort()
    await over
  })
  /** All that was read up to these words, which end it. */
  const until = async (words: string) => {
    await new Promise<void>((resolve) => (look = () => read.includes(words) && resolve())())
    const at = read.indexOf(words) + words.length
    const text = read.slice(0, at)
    read = read.slice(at)
    return text
  }
  /** The question ends with these words, and takes answers when the person has paused. */
  const asked = async (words: string) => {
    const text = await until(words)
    await clock.turn(400)
    await until('> ')
    return text
  }
  return { desk, clock, over, until, asked, type: (text: string) => keys.write(text) }
}

const edit: Question = {
  about: 'permission',
  text: 'Edit README.md?',
  from: [],
  agent: 'claude',
  free: true,
  shows: [
    { type: 'diff', path: 'README.md', before: 'one\n', after: 'two\n' },
    { type: 'command', command: 'echo \x1b]0;rm -rf ~\x07' },
  ],
  options: [
    { id: 'yes', label: 'Yes' },
    { id: 'always', label: 'Always', grants: 'every edit' },
  ],
}

test('several agents inside a turn with the same failure print it once', options, async (t) => {
  const { desk, until } = sit(t)
  await until('> ')
  const outcome = { ok: false, failure: { kind: 'auth', message: 'no key here' } } as const
  const fails = (role: string, by: string) =>
    ({ type: 'inner', role, event: { type: 'end', outcome, by } }) satisfies Event
  desk.turn('t', fails('enumerator', 'codex'), fails('pattern matcher', 'codex'), fails('code generator', 'codex'))
  desk.turn('t', { type: 'note', text: 'all is read' })
  assert.equal((await until('all is read')).split('no key here').length - 1, 1)
})

test('a secret is visible while it is typed, the question says so, and Up does not recall it', options, async (t) => {
  const { desk, until, asked, type } = sit(t)
  await until('> ')
  type('before\r')
  const question: Question = { about: 'login', text: 'The key?', from: [], free: true, secret: true, options: [] }
  desk.turn('t', { type: 'question', ask: 'a', question })
  golden(t, await asked('visible here.'))
  type('sk-made-up\r')
  desk.turn('t', { type: 'answer', ask: 'a', picks: ['(not shown)'] })
  desk.happen({ type: 'said', how: 'note', text: 'all is read' })
  await until('all is read')
  type('\x1b[A\r')
  desk.happen({ type: 'said', how: 'note', text: 'and more' })
  await until('and more')
  assert.deepEqual(desk.answers, [{ ask: 'a', picks: ['sk-made-up'] }])
  assert.deepEqual(desk.submitted, ['before', 'before'])
})

test('a question is printed with everything it is about, and answered by number or in words', options, async (t) => {
  const { desk, until, asked, type } = sit(t)
  await until('> ')
  desk.turn('t', { type: 'question', ask: 'a', question: edit })
  golden(t, await asked('Enter alone: do not allow it.'))
  type('2\r')
  await until('2')
  type('only this line\r')
  desk.turn('t', { type: 'question', ask: 'b', question: { ...edit, free: false } })
  await asked('Enter alone: ')
  type('9\r')
  await until('Type one of 1, 2, or press Enter alone')
  type('1\r')
  desk.happen({ type: 'said', how: 'note', text: 'all is read' })
  await until('all is read')
  assert.deepEqual(desk.answers, [
    { ask: 'a', picks: ['always'] },
    { ask: 'b', picks: ['yes'] },
  ])
  assert.deepEqual(desk.submitted, ['only this line'])
})

const choice: Question = {
  about: 'choice',
  text: 'Which?',
  from: [],
  options: [
    { id: 'x', label: 'The first' },
    { id: 'y', label: 'The second' },
  ],
}

test('text that is typed as a question appears is no answer, and comes back after the answer', options, async (t) => {
  const { desk, clock, until, asked, type } = sit(t)
  await until('> ')
  type('1')
  await until('1')
  desk.turn('t', { type: 'prompt', text: 'go' }, { type: 'question', ask: 'a', question: choice })
  await until('Enter alone: leave this unanswered.\n')
  // A line that is sent before the pause is a prompt, and what is typed after it is kept.
  type('2 is enough\r')
  type('1')
  await until('\n1')
  await clock.turn(300)
  type(' more')
  await until(' more')
  await clock.turn(300)
  assert.deepEqual([desk.submitted, desk.answers], [['12 is enough'], []])
  await clock.turn(100)
  await until('\nKept until the question is answered, because it was typed before: 1 more\n> ')
  type('2\r')
  desk.turn('t', { type: 'answer', ask: 'a', picks: ['y'] })
  await until('> 1 more')
  // The next question keeps the line again.
  desk.turn('t', { type: 'question', ask: 'b', question: choice })
  await asked('Enter alone: leave this unanswered.')
  type('1\r')
  desk.turn('t', { type: 'answer', ask: 'b', picks: ['x'] })
  await until('> 1 more')
  type('\r')
  desk.happen({ type: 'said', how: 'note', text: 'all is read' })
  await until('all is read')
  assert.deepEqual(
    [desk.submitted, desk.answers],
    [
      ['12 is enough', '1 more'],
      [
        { ask: 'a', picks: ['y'] },
        { ask: 'b', picks: ['x'] },
      ],
    ],
  )
})

test('an unfinished answer to a question that was answered elsewhere is not sent', options, async (t) => {
  const { desk, until, asked, type } = sit(t)
  await until('> ')
  desk.turn('t', { type: 'question', ask: 'a', question: choice })
  desk.turn('t', { type: 'question', ask: 'b', question: { ...choice, text: 'The key?', secret: true, free: true } })
  await asked('Enter alone: leave this unanswered.')
  type('2')
  await until('2')
  desk.turn('t', { type: 'answer', ask: 'a', picks: ['x'] })
  assert.equal(
    await until('The key?'),
    ['', 'Not sent: 2', 'The answer was: The first', 'termaite asks:', 'The key?'].join('\n'),
  )
})

test('two questions are printed one at a time, and an answer from elsewhere is printed', options, async (t) => {
  const { desk, until, asked } = sit(t)
  await until('> ')
  const first: Question = { about: 'choice', text: 'First?', from: [], options: [{ id: 'x', label: 'The first' }] }
  desk.turn('t', { type: 'question', ask: 'a', question: first, by: 'claude' })
  desk.turn('t', { type: 'question', ask: 'b', question: { ...first, text: 'Second?' }, by: 'claude' })
  assert.equal((await asked('Enter alone: leave this unanswered.')).includes('Second?'), false)
  desk.turn('t', { type: 'answer', ask: 'a', picks: ['x'] })
  assert.equal(await until('Second?'), ['', 'The answer was: The first', 'claude asks:', 'Second?'].join('\n'))
})

test(
  'a turn is read in order, without a prompt in between, and questions from elsewhere are printed',
  options,
  async (t) => {
    const { desk, until, type } = sit(t)
    await until('Type a request, or /help.\n> ')
    type('why?\r')
    await until('why?')
    desk.turn(
      't',
      { type: 'prompt', text: 'why?' },
      { type: 'call', call: 'c', tool: 'Bash', input: { command: 'make' }, by: 'claude' },
      { type: 'reply', text: 'Because.', by: 'claude' },
    )
    desk.happen({ type: 'closing', closing: { turn: 't', by: 'claude', why: 'next in line', ms: 4200, tokens: 1234 } })
    assert.equal(
      (await until('tokens.\n> ')).replace(/^[\s>]+/, ''),
      [
        'claude uses Bash: make',
        'claude says:',
        'Because.',
        'Done by claude (next in line) in 4.2 s, ~1.2k tokens.',
        '> ',
      ].join('\n'),
    )
    desk.turn('u', { type: 'prompt', text: 'from another window' })
    await until('\nAsked: from another window\n')
  },
)

test('command output is printed without code fences; the commands are searched', options, async (t) => {
  const command = (name: string, help: string) => ({ name, help, run: async () => {} })
  const { desk, until } = sit(t, {
    commands: [command('leash', 'Choose how much the agents may do.'), command('exit', 'Leave.')],
  })
  await until('> ')
  desk.happen({ type: 'said', how: 'text', text: 'Agents:\n```text\nclaude  ready\n```' })
  assert.equal(await until('ready\n> '), '\nAgents:\nclaude  ready\n> ')
  desk.screen!.palette('lea')
  await until('\n/leash: Choose how much the agents may do.\n')
  desk.screen!.palette('zzz')
  await until('No command matches /zzz; /help lists them all.')
})

test('Ctrl+C throws away what is typed, then cancels, and leaves when it comes twice', options, async (t) => {
  const { desk, clock, until, type, over } = sit(t)
  await until('> ')
  desk.busy = true
  type('half a tho')
  await until('half a tho')
  type('\x03')
  await until('\n> ')
  assert.equal(desk.cancels, 0)
  await clock.turn(3000)
  type('\x03')
  await until('Cancelled. Ctrl+C again leaves.')
  assert.equal(desk.cancels, 1)
  type('\x03')
  await over
  assert.deepEqual(desk.submitted, [])
})
