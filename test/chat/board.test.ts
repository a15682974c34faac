import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { EarlierWork } from '../../src/core/talk/command.ts'
import type { Event, WorkStatus } from '../../src/core/talk/entry.ts'
import type { AgentRow } from '../../src/chat/transcript/block.ts'
import type { RenderContext } from '../../src/chat/transcript/markdown/render-context.ts'
import { visibleWidth } from '@earendil-works/pi-tui'
import { BoardPanel } from '../../src/chat/board/board-panel.ts'
import { plain } from '../../src/chat/style/theme.ts'
import { LazyDetails } from '../../src/chat/transcript/markdown/render-context.ts'
import { until } from '../until.ts'
import { sit, type Place } from './sitting.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 20_000 }
const keys = {
  up: '\x1b[A',
  down: '\x1b[B',
  enter: '\r',
  escape: '\x1b',
  board: '\x14',
  stop: '\x18',
  terminal: '\x0f',
}

const inner = (role: string, event: Event): Event => ({ type: 'inner', role, event: { by: 'native', ...event } })
const begins = (role: string): Event => inner(role, { type: 'state', state: 'starting' })
const waits = (role: string): Event => inner(role, { type: 'state', state: 'held' })
const says = (role: string, text: string): Event => inner(role, { type: 'reply', text })
const used = (role: string, input: number): Event =>
  inner(role, { type: 'usage', input, output: 0, source: 'reported' })
const calls = (role: string, command: string): Event =>
  inner(role, { type: 'call', call: `${role} ${command}`, tool: 'bash', input: { command } })
const ends = (role: string, status: WorkStatus): Event =>
  inner(role, { type: 'end', outcome: { ok: true, text: '' }, status })
const prompt: Event = { type: 'prompt', text: 'do it', by: 'user' }
const question = {
  about: 'permission' as const,
  text: 'bash: rm build',
  from: ['worker_2 verifier'],
  options: [{ id: 'yes', label: 'Yes, once' }],
}

/** Four workers, each in another state, and a fifth that has ended partly done. */
const four: Event[] = [
  prompt,
  begins('worker_1 explorer'),
  begins('worker_2 verifier'),
  waits('worker_3 implementer'),
  begins('worker_4 summarizer'),
  used('worker_1 explorer', 4100),
  calls('worker_1 explorer', 'npm test'),
  calls('worker_2 verifier', 'rm build'),
  says('worker_4 summarizer', '{"what_was_done": "Read two files.", "status": "partial"}'),
  ends('worker_4 summarizer', 'partial'),
]

const open = (t: Parameters<typeof sit>[0], events: readonly Event[], place: Place = {}) => {
  const chat = sit(t, {}, place)
  chat.desk.turn('t', ...events)
  return chat
}
/** The lines between those of the board's frame. */
function panel(lines: readonly string[]): string[] {
  const from = lines.findIndex((line) => line.startsWith('── ') && /Agents of this |· (native|claude) ·/.test(line))
  return from < 0
    ? []
    : lines.slice(
        from,
        lines.findIndex((line, at) => at > from && / Esc (?:closes|goes back)$/.test(line.trimEnd())) + 1,
      )
}
const bare = (lines: readonly string[]) => lines.map((line) => line.replaceAll(/─+/g, '').trim())

test('the board lists every agent of the turn with its state, time, tokens and tool', options, async (t) => {
  const chat = open(t, [...four, { type: 'question', ask: 'q', question }, { type: 'answer', ask: 'q' }])
  await chat.seen('worker_4')
  chat.terminal.press(keys.board)
  const lines = await chat.seen('Agents of this turn')
  golden(t, bare(panel(lines)))
})

test(
  'a row says that its agent asks, the card has the room and the keys, and the board comes back',
  options,
  async (t) => {
    const chat = open(t, four)
    await chat.seen('worker_4')
    chat.terminal.press(keys.board)
    await chat.seen('Agents of this turn')
    chat.desk.turn('t', { type: 'question', ask: 'q', question })
    const asked = await chat.seen('bash: rm build')
    assert.deepEqual([panel(asked), asked.some((line) => /\? worker_2 verifier .*asks you/.test(line))], [[], true])
    chat.desk.turn('t', { type: 'answer', ask: 'q', picks: ['yes'] })
    const after = await chat.seen('Agents of this turn')
    assert.ok(panel(after).some((line) => line.includes('◌ worker_2 verifier')))
  },
)

test(
  'an opened agent is followed, and stays readable after its end; Escape goes back and closes',
  options,
  async (t) => {
    const chat = open(t, four)
    await chat.seen('worker_4')
    chat.terminal.press(keys.board)
    await chat.seen('Agents of this turn')
    chat.terminal.press(keys.enter)
    await chat.seen(/◌ worker_1 explorer · native · working · 0 s · 4\.1k tokens/)
    chat.desk.turn('t', says('worker_1 explorer', 'All tests pass.'))
    assert.ok(panel(await chat.seen('All tests pass.')).some((line) => line.includes('◌ bash npm test')))
    chat.desk.turn('t', ends('worker_1 explorer', 'completed'), { type: 'end', outcome: { ok: true, text: 'Done.' } })
    const over = await chat.seen(/✓ worker_1 explorer · native · done/)
    assert.ok(over.some((line) => line.includes('All tests pass.')))
    assert.equal(over.join('\n').includes('Ctrl+X'), false)
    chat.terminal.press(keys.escape)
    await chat.seen('Agents of this turn')
    chat.terminal.press(keys.escape)
    await chat.gone('Agents of this turn')
    assert.equal(chat.desk.cancels, 0)
  },
)

test('typed text goes to the input while the board is open, and Enter sends it', options, async (t) => {
  const chat = open(t, four)
  await chat.seen('worker_4')
  chat.terminal.press(keys.board)
  await chat.seen('Enter opens')
  chat.terminal.press(...'and the docs')
  const typed = await chat.seen('and the docs')
  assert.match(panel(typed).at(-1)!, /^ Ctrl\+X stops · Esc closes/)
  chat.terminal.press(keys.enter)
  await until(() => chat.desk.submitted.length > 0)
  assert.deepEqual(chat.desk.submitted, ['and the docs'])
  assert.ok(panel(await chat.seen('Enter opens')).length > 0)
})

test(
  'the chosen agent is stopped or shown in its terminal by its name; one that has ended is not',
  options,
  async (t) => {
    const chat = open(t, [...four, inner('worker_5 explorer', { type: 'state', state: 'starting', terminal: true })])
    await chat.seen('worker_5')
    chat.terminal.press(keys.board)
    await chat.seen('Enter opens')
    chat.terminal.press(keys.down, keys.stop)
    await until(() => chat.desk.submitted.length === 1)
    chat.terminal.press(keys.down, keys.down, keys.stop, keys.terminal, keys.down)
    await chat.seen('Ctrl+O terminal')
    chat.terminal.press(keys.terminal)
    await until(() => chat.desk.submitted.length === 2)
    assert.deepEqual(chat.desk.submitted, ['/workers stop worker_2 verifier', '/workers attach worker_5 explorer'])
  },
)

test('the conversation shows six of fifty agents, and the board scrolls', options, async (t) => {
  const roles = Array.from({ length: 50 }, (_, at) => `worker_${at + 1} explorer`)
  const chat = open(t, [prompt, ...roles.map((role, at) => (at < 4 ? begins(role) : waits(role)))])
  const lines = await chat.seen('+ 44 more: 44 waiting · Ctrl+T shows all')
  assert.equal(lines.filter((line) => /worker_\d+ explorer/.test(line)).length, 6)
  chat.terminal.press(keys.board)
  await chat.seen('1 of 50')
  chat.terminal.press(keys.up)
  for (let at = 0; at < 60; at++) chat.terminal.press(keys.down)
  const last = bare(panel(await chat.seen('50 of 50')))
  assert.match(last.at(-2)!, /^› ○ worker_50 explorer/)
  assert.equal(last.length, 9)
})

test('the time of an agent at work goes on although nothing happens', options, async (t) => {
  const chat = open(t, [prompt, begins('critic')])
  await chat.seen(/critic +native +0 s/)
  for (let at = 0; at < 13; at++) await chat.clock.turn(250)
  await chat.seen(/critic +native +3 s/)
})

test('a name with escapes, wide characters or no end breaks neither the rows nor the frame', options, async (t) => {
  const names = ['\x1b[2J\x1b]0;owned\x07evil', '工作者'.repeat(30), 'x'.repeat(500), 'a\nb\tc', '\u202eabc']
  for (const columns of [80, 40, 20]) {
    const chat = open(t, [prompt, ...names.flatMap((name) => [begins(name), says(name, name)])], { columns })
    await chat.seen('evil')
    chat.terminal.press(keys.board)
    const lines = await chat.seen(/Agents/)
    assert.deepEqual(
      lines.filter((line) => visibleWidth(line) > columns),
      [],
    )
    assert.equal(panel(lines).length >= 3 || columns === 20, true)
    assert.doesNotMatch(lines.join('\n'), /owned|\u202e/)
  }
})

test(
  'agents of earlier turns stand above those of this one, and their events are read when they are opened',
  options,
  async (t) => {
    const chat = open(t, [prompt, begins('worker_9 explorer')])
    await chat.seen('worker_9')
    const earlier = (role: string, turn: string): EarlierWork => ({
      turn,
      role,
      by: 'claude',
      status: 'failed',
      since: 0,
      ms: 61_000,
      tokens: 900,
      text: 'It crashed.\n\nNext step: Try again.',
      entries: async () => [
        {
          type: 'call',
          call: 'c',
          tool: 'bash',
          input: { command: 'make' },
          id: 'e',
          at: 0,
          by: 'claude',
          session: 's',
          turn: 'x',
        },
      ],
    })
    assert.equal(
      chat.desk.screen!.board!([earlier('worker_1 explorer', 'old'), earlier('worker_9 explorer', 't')]),
      true,
    )
    const lines = bare(panel(await chat.seen('Agents of this and earlier turns')))
    assert.deepEqual(
      lines.slice(1, 3).map((line) => line.replace(/ +/g, ' ')),
      ['✗ worker_1 explorer claude 1 min 01 s · 900 tokens · It crashed.', '› ◌ worker_9 explorer native 0 s'],
    )
    chat.terminal.press(keys.up, keys.enter)
    assert.ok(panel(await chat.seen('bash make')).some((line) => line.includes('Next step: Try again.')))
  },
)

test('a key costs the rows of the board nothing: a row is made again only when it changes', () => {
  let made = 0
  const theme = { ...plain, speaker: (name: string) => (made++, plain.speaker(name)) }
  const context: RenderContext = {
    theme,
    lazy: new LazyDetails(
      () => {},
      () => {},
    ),
    links: false,
    now: () => 0,
  }
  let rows: readonly AgentRow[] = Array.from({ length: 50 }, (_, key) => ({
    key,
    role: `worker_${key}`,
    by: 'native',
    state: 'working',
    since: 0,
    blocks: [],
  }))
  const board = new BoardPanel({
    context,
    rows: () => rows,
    room: () => ({ list: 12, opened: 20 }),
    covered: () => false,
    typing: () => true,
    stop: () => {},
    showTerminal: () => {},
    flash: () => {},
    repaint: () => {},
  })
  board.open([])
  board.render(80)
  const first = made
  for (let key = 0; key < 100; key++) board.render(80)
  assert.deepEqual([first, made], [10, 10])
  rows = rows.map((row) => (row.key === 3 ? { ...row, state: 'done' } : row))
  board.render(80)
  assert.equal(made, 11)
})

test(
  'after the turn the key asks for the kept rows, which take the place of those that are still shown',
  options,
  async (t) => {
    const over = { type: 'end', outcome: { ok: true, text: 'Done.' } } as const
    const chat = open(t, [
      prompt,
      begins('worker_1 explorer'),
      begins('critic'),
      ends('worker_1 explorer', 'completed'),
      over,
    ])
    await chat.seen(/■ critic/)
    chat.terminal.press(keys.board)
    await until(() => chat.desk.submitted.length > 0)
    assert.deepEqual(chat.desk.submitted, ['/workers'])
    const kept: EarlierWork = {
      turn: 't',
      role: 'worker_1 explorer',
      by: 'native',
      status: 'completed',
      since: 0,
      text: 'Looked.',
      entries: async () => [],
    }
    assert.equal(chat.desk.screen!.board!([kept]), true)
    const lines = bare(panel(await chat.seen('Agents of this and earlier turns')))
    assert.deepEqual(
      lines.slice(1, -1).map((line) => line.replace(/ +/g, ' ')),
      ['✓ worker_1 explorer native Looked.', '› ■ critic native stopped'],
    )
  },
)
