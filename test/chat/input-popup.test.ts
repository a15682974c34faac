import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settled } from '../hand-clock.ts'
import { completionTarget, mentionOf } from '../../src/chat/input/prompt-completion.ts'
import { ScriptedDesk } from './scripted-desk.ts'
import { command, legacy, seat } from './input-seat.ts'

const commands = [
  command('help', { matters: true }),
  command('history'),
  command('switch', { words: '[agent]', complete: () => ['claude', 'codex', 'gemini'] }),
]

test('the completion target of the words before the cursor', () => {
  const calls = [
    ['/', true],
    ['/he', true],
    ['/he', false],
    ['/switch cl', true],
    ['/etc/ho', true],
    ['see @', false],
    ['see @src/a', true],
    ['(@a', false],
    ['@"a b', false],
    ['@"a b" ', false],
    ['mail me@example.org', true],
    ['/switch @x', true],
  ] as const
  assert.deepEqual(
    calls.map(([before, first]) => completionTarget(before, first)),
    [
      { type: 'command', typed: '', from: 0 },
      { type: 'command', typed: 'he', from: 0 },
      undefined,
      { type: 'words', command: 'switch', typed: 'cl', from: 8 },
      undefined,
      { type: 'file', typed: '', from: 4 },
      { type: 'file', typed: 'src/a', from: 4 },
      { type: 'file', typed: 'a', from: 1 },
      { type: 'file', typed: 'a b', from: 0 },
      undefined,
      undefined,
      { type: 'file', typed: 'x', from: 8 },
    ],
  )
  assert.deepEqual(['a.ts', 'a b.ts', 'src/', 'my dir/'].map(mentionOf), ['@a.ts ', '@"a b.ts" ', '@src/', '@"my dir/'])
})

test('a slash opens the commands, important ones first; letters narrow them', () => {
  const { box, press, type, lines } = seat({ commands })
  type('/')
  assert.deepEqual(lines(50).slice(0, 3), [
    '› /help            what help does                 ',
    '  /history         what history does              ',
    '  /switch [agent]  what switch does               ',
  ])
  type('sw')
  assert.deepEqual(lines(50).slice(0, 2), [
    '› /switch [agent]  what switch does               ',
    '──────────────────────────────────────────────────',
  ])
  press(legacy.escape)
  assert.equal(box.popupOpen(), false)
  type('i')
  assert.equal(box.popupOpen(), false, 'it stays closed for this word')
})

test('Enter sends a command without words, and completes one that takes words', async () => {
  const { box, sent, press, type, lines } = seat({ commands })
  type('/hi')
  press(legacy.enter)
  assert.deepEqual(sent, ['/history'])
  type('/sw')
  press(legacy.enter)
  await settled()
  assert.deepEqual(
    { text: box.text(), lines: lines(20).slice(0, 3) },
    {
      text: '/switch ',
      lines: ['› claude            ', '  codex             ', '  gemini            '],
    },
  )
  type('ge')
  await settled()
  press(legacy.enter)
  assert.deepEqual({ sent, text: box.text() }, { sent: ['/history'], text: '/switch gemini' })
  press(legacy.enter)
  assert.deepEqual(sent, ['/history', '/switch gemini'])
})

test('a command that was typed whole is sent as it is, whatever else is offered', async () => {
  const { sent, press, type } = seat({ commands })
  type('/switch')
  press(legacy.enter)
  type('/switch ')
  await settled()
  press(legacy.enter)
  assert.deepEqual(sent, ['/switch', '/switch'])
})

test('Tab completes a file, quoted where its path has blanks', async () => {
  const { box, clock, press, type } = seat({ files: ['src/main.ts', 'my notes.txt'] })
  type('see @ma')
  await clock.turn(100)
  press(legacy.tab)
  assert.equal(box.text(), 'see @src/main.ts ')
  type('and @no')
  await clock.turn(100)
  press(legacy.enter)
  assert.equal(box.text(), 'see @src/main.ts and @"my notes.txt" ')
})

test('a folder that is picked shows what is in it', async () => {
  const { box, clock, press, type, lines } = seat({ files: ['docs/', 'docs/a.md', 'docs/b.md'] })
  type('@docs')
  await clock.turn(100)
  press(legacy.tab)
  await clock.turn(100)
  assert.deepEqual(
    { text: box.text(), lines: lines(20).slice(0, 3) },
    {
      text: '@docs/',
      lines: ['› docs/             ', '  docs/a.md         ', '  docs/b.md         '],
    },
  )
})

test('an e-mail address opens nothing', async () => {
  const { box, clock, type } = seat({ files: ['example.org'] })
  type('write me@example.org')
  await clock.turn(100)
  assert.equal(box.popupOpen(), false)
})

/** A finder whose answers come when the test says so. */
class SlowDesk extends ScriptedDesk {
  readonly asked: { typed: string; signal: AbortSignal; found(paths: string[]): void }[] = []

  override files(typed: string, _most: number, signal: AbortSignal): Promise<string[]> {
    return new Promise((found) => this.asked.push({ typed, signal, found }))
  }
}

test('each key cancels the search before it, and a late result is dropped', async () => {
  const desk = new SlowDesk()
  const { clock, type, lines } = seat({}, { desk })
  type('@a')
  await clock.turn(15)
  type('b')
  await clock.turn(15)
  const stale = desk.asked[0]!.signal.aborted
  desk.asked[1]!.found(['ab.ts'])
  await settled()
  desk.asked[0]!.found(['a.ts'])
  await settled()
  assert.deepEqual(
    { asked: desk.asked.map(({ typed }) => typed), stale, row: lines(20)[0] },
    { asked: ['a', 'ab'], stale: true, row: '› ab.ts             ' },
  )
})

test('keys that come at once search once, and typing never waits for a result', async () => {
  const desk = new SlowDesk()
  const { box, clock, type } = seat({}, { desk })
  type('@ma')
  await clock.turn(14)
  type('in')
  await clock.turn(15)
  type(' and on')
  assert.deepEqual(
    { asked: desk.asked.map(({ typed }) => typed), text: box.text(), open: box.popupOpen() },
    { asked: ['main'], text: '@main and on', open: false },
  )
})

test('suggestions shown during a search match what is typed by now', async () => {
  const desk = new SlowDesk()
  const { box, clock, press, type, lines } = seat({}, { desk })
  type('@a')
  await clock.turn(15)
  desk.asked[0]!.found(['alpha.ts', 'beta.ts'])
  await settled()
  type('l')
  assert.deepEqual(lines(20).slice(0, 2), ['› alpha.ts          ', '────────────────────'])
  press(legacy.tab)
  assert.equal(box.text(), '@alpha.ts ')
})

test('a failed search, and a path with control characters, suggest nothing', async () => {
  const desk = new ScriptedDesk({ files: ['a\x1b[2J.ts'] })
  const { box, clock, type } = seat({}, { desk })
  type('@a')
  await clock.turn(15)
  assert.equal(box.popupOpen(), false)
  desk.files = async () => Promise.reject(new Error('gone'))
  type('b')
  await clock.turn(15)
  assert.equal(box.popupOpen(), false)
})

test('a key does not search sixty thousand files', async () => {
  const paths = Array.from({ length: 60_000 }, (_, at) => `src/folder${at % 300}/file${at}.ts`)
  const wanted: number[] = []
  const desk = new ScriptedDesk()
  desk.files = async (typed, most) => (wanted.push(most), paths.filter((path) => path.includes(typed)).slice(0, most))
  const { clock, type, lines } = seat({}, { desk })
  type('@file5999')
  await clock.turn(15)
  assert.deepEqual({ wanted, rows: lines(40).length }, { wanted: [50], rows: 10 })
})

const resources = [
  { mention: 'notes:notes://today', help: 'What is to be done.' },
  { mention: 'notes:file:///a b.txt' },
  { mention: 'notes:day://{month}', open: 'notes:day://' },
]

test('resources of MCP servers stand behind the files, and before them once a server is named', async () => {
  const { box, clock, press, type, lines } = seat({ files: ['notes.txt', 'my notes:'], resources })
  const labels = () => lines(60).flatMap((line) => /^[› ] ((?:my )?notes[^ ]*)/.exec(line)?.[1] ?? [])
  type('@notes')
  await clock.turn(100)
  assert.deepEqual(labels(), [
    'notes.txt',
    'my notes:',
    'notes:notes://today',
    'notes:file:///a',
    'notes:day://{month}',
  ])
  type(':')
  await clock.turn(100)
  assert.deepEqual(labels(), ['notes:notes://today', 'notes:file:///a', 'notes:day://{month}', 'my notes:'])
  type('file')
  await clock.turn(100)
  press(legacy.tab)
  assert.equal(box.text(), '@"notes:file:///a b.txt" ')
  type('@mon')
  await clock.turn(100)
  press(legacy.enter)
  assert.equal(box.text(), '@"notes:file:///a b.txt" @notes:day://', 'a template is typed on')
})

test('a server that does not answer holds up no file; its resources come when they are there', async () => {
  const slow = Promise.withResolvers<void>()
  class Slow extends ScriptedDesk {
    override async resources() {
      await slow.promise
      return super.resources()
    }
  }
  const { box, clock, type, lines } = seat({}, { desk: new Slow({ files: ['notes.txt'], resources }) })
  type('@notes')
  await clock.turn(100)
  assert.equal(lines(60)[0]!.trim(), '› notes.txt')
  assert.equal(lines(60)[1]![0], '─')
  slow.resolve()
  await settled()
  assert.equal(lines(60)[1]!.trim(), 'notes:notes://today  What is to be done.')
  box.completeAgain()
  await clock.turn(100)
  assert.equal(lines(60)[0]!.trim(), '› notes.txt')
})

test('commands that come while they are looked for are shown', () => {
  const desk = new ScriptedDesk({ commands: [] })
  const { box, type, lines } = seat({}, { desk })
  type('/no')
  assert.equal(box.popupOpen(), false)
  ;(desk.commands as unknown as ReturnType<typeof command>[]).push(command('notes:greet'))
  box.completeAgain()
  assert.equal(lines(60)[0]!.trim(), '› /notes:greet  what notes:greet does')
})
