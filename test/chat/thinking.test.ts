import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Entry, Event, Fact, WorkStatus } from '../../src/core/talk/entry.ts'
import type { ChatState } from '../../src/chat/state/chat-state.ts'
import type { Block } from '../../src/chat/transcript/block.ts'
import type { RenderContext } from '../../src/chat/transcript/markdown/render-context.ts'
import { plain } from '../../src/chat/style/theme.ts'
import { emptyState, nextState } from '../../src/chat/state/chat-state.ts'
import { closingWords, eventWords } from '../../src/chat/line-words.ts'
import { answerSummary, latestWords } from '../../src/chat/transcript/blocks/board-lines.ts'
import { LazyDetails } from '../../src/chat/transcript/markdown/render-context.ts'
import { BoardRows } from '../../src/chat/board/board-rows.ts'
import { BlockRenderer } from '../../src/chat/transcript/blocks/block-renderer.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const never = () => {}
const look: RenderContext = {
  theme: plain,
  lazy: new LazyDetails(never, never),
  links: false,
  now: () => 60_000,
}

/** The screen after these events of one turn, a second apart. */
const turn = (...events: Event[]): ChatState =>
  events.reduce(
    (state, event, at) => nextState(state, { type: 'event', turn: 't', event }, 1000 * (at + 1)),
    emptyState,
  )

const blocksOf = ({ done, live }: ChatState): Block[] => [...done, ...live]

/** The rows of a state as they are read, without their colours and weights. */
function rows(state: ChatState, width: number, open = false): string[] {
  const blocks = blocksOf(state)
  return blocks.flatMap((block, at) =>
    new BlockRenderer()
      .lines(block, blocks[at - 1], width, look, open)
      .map((line) => line.replaceAll(/\x1b(?:\[[\d;]*m|\]133;A\x07)/g, '').trimEnd()),
  )
}

const prompt: Event = { type: 'prompt', text: 'make a pdf', by: 'you' }
const inner = (role: string, event: Event): Event => ({ type: 'inner', role, event })
const over = (role: string, failure?: string): Event =>
  inner(role, {
    type: 'end',
    outcome:
      failure === undefined ? { ok: true, text: '' } : { ok: false, failure: { kind: 'crash', message: failure } },
    by: 'rotation',
  })
const json =
  '```json\n{"approaches":[{"name":"pandoc","how":"one command"},{"name":"weasyprint","how":"html first"}]}\n```'

const five: Event[] = [
  prompt,
  inner('enumerator', { type: 'reply', text: json, by: 'gemini' }),
  inner('pattern matcher', { type: 'text', delta: '{"approach": {"name": "pandoc", "how": "with', by: 'claude' }),
  inner('dependency scanner', {
    type: 'call',
    call: 'c',
    tool: 'Bash',
    input: { command: 'which pdflatex' },
    by: 'codex',
  }),
  inner('fallback chain', { type: 'state', state: 'busy', by: 'gemini' }),
  over('enumerator'),
  over('code generator', 'exit 3'),
]

test('five consultations have a row each: role, agent, state and words', () => {
  assert.deepEqual(rows(turn(...five), 80).slice(2), [
    '  ✓ lists options         gemini    4.0 s · pandoc, weasyprint',
    '  ◌ best practice         claude    57 s · approach: name: pandoc, how: with',
    '  ◌ what works here       codex     56 s · 1 call · Bash which pdflatex',
    '  ◌ plan B                gemini    55 s',
    '  ✗ script draft          0.0 s · exit 3',
  ])
  assert.deepEqual(rows(turn(...five), 50).slice(2, 5), [
    '  ✓ lists options  gemini  4.0 s · pandoc, weasyp…',
    '  ◌ best practice  claude  57 s · approach: name:…',
    '  ◌ what works here  codex  56 s · 1 call · Bash …',
  ])
})

test('an opened row shows everything that was said in it', () => {
  assert.deepEqual(rows(turn(...five.slice(0, 2), over('enumerator')), 60, true).slice(2), [
    '  ✓ lists options         gemini    1.0 s · pandoc, weasypr…',
    '    ● gemini',
    '        json',
    '        {"approaches":[{"name":"pandoc","how":"one',
    '        command"},{"name":"weasyprint","how":"html first"}]}',
  ])
})

test('an agent that is consulted again has a new row, and none runs when the turn is over', () => {
  const state = turn(
    prompt,
    inner('judge', { type: 'reply', text: '{"passed":false,"quote":"","why":"no pdf"}', by: 'codex' }),
    over('judge'),
    inner('judge', { type: 'text', delta: 'I look', by: 'gemini' }),
    { type: 'end', outcome: { ok: false, failure: { kind: 'aborted', message: 'cancelled' } } },
  )
  assert.deepEqual(rows(state, 80).slice(2), [
    '  ✓ judge                 codex     1.0 s · no pdf',
    '  ■ judge                 gemini    stopped · I look',
    '',
    '■ cancelled',
  ])
})

test('the kept work of a failed turn stays in sight, and so do its attempts', (t) => {
  const failure = { kind: 'unmet', message: 'not reached after 2 ways of trying' } as const
  const state = turn(
    prompt,
    { type: 'reply', text: 'It is done.', by: 'claude' },
    { type: 'note', text: 'pandoc failed 2 times (exited with 1); stepping back to weasyprint', by: 'termaite' },
    { type: 'attempt', failure: { kind: 'quota', message: 'spent' }, ms: 5, by: 'gemini' },
    { type: 'reply', text: 'Now it is.', by: 'claude' },
    { type: 'thought', delta: 'hm', by: 'claude' },
    { type: 'reply', text: 'This was not reached: a pdf', by: 'termaite' },
    { type: 'end', outcome: { ok: false, failure } },
  )
  golden(t, rows(state, 80).slice(2))
})

test('a running turn knows its phase, and the rows of a turn say which agents work inside it', () => {
  const state = turn(
    ...five,
    { type: 'phase', framework: 'consensus', words: '2 of 5', by: 'termaite' },
    inner('pattern matcher', { type: 'text', delta: ' more', by: 'qwen' }),
  )
  const [run] = state.running
  assert.deepEqual([run!.phase, run!.by], [{ framework: 'consensus', words: '2 of 5' }, undefined])
  assert.deepEqual(
    new BoardRows().of('t', state).map(({ role, by, state: now }) => [role, by, now]),
    [
      ['enumerator', 'gemini', 'done'],
      ['pattern matcher', 'qwen', 'working'],
      ['dependency scanner', 'codex', 'working'],
      ['fallback chain', 'gemini', 'working'],
      ['code generator', undefined, 'failed'],
    ],
  )
})

test('the closing line names the framework and the number of calls, also from kept entries', () => {
  let id = 0
  const kept = (at: number, fact: Fact, by: string): Entry => ({
    ...fact,
    id: `e${++id}`,
    at,
    by,
    session: 's',
    turn: 't',
  })
  const ended = (framework: 'consensus' | 'direct', calls: number): Entry[] => [
    kept(0, { type: 'prompt', text: 'make a pdf' }, 'user'),
    kept(8000, { type: 'reply', text: 'Done.' }, 'claude'),
    kept(8000, { type: 'verdict', framework, why: 'more than one way', calls, ms: 8000 }, 'claude'),
    kept(9000, { type: 'end', outcome: { ok: true, text: 'Done.' } }, 'thinking'),
  ]
  const closed = (entries: Entry[]) =>
    rows(nextState(emptyState, { type: 'opened', entries, more: false }, 0), 80).at(-1)
  assert.equal(closed(ended('consensus', 6)), '─ claude · 9.0 s · consensus · 6 calls')
  assert.equal(closed(ended('consensus', 0)), '─ claude · 9.0 s · consensus')
  assert.equal(closed(ended('direct', 0)), '─ claude · 9.0 s')
})

test('in lines, a turn prints its phases and the ends of the agents inside it, and at its end its framework', (t) => {
  const begun = inner('critic', { type: 'state', state: 'starting' })
  assert.equal(
    eventWords({ type: 'phase', framework: 'consensus', words: '3 of 5 advisors', by: 'termaite' }, 0),
    'consensus: 3 of 5 advisors',
  )
  const ends = (status?: WorkStatus) =>
    inner('worker_1 explorer', { type: 'end', outcome: { ok: true, text: '' }, status })
  golden(
    t,
    [over('enumerator'), over('critic', 'exit 3'), ends('partial'), ends('failed'), begun].map((event) =>
      eventWords(event, 0),
    ),
  )
  const thought = { framework: 'consensus', calls: 6 } as const
  assert.equal(
    closingWords({ turn: 't', by: 'claude', ms: 12_000, thought, tokens: 900, source: 'reported' }),
    'Done by claude in 12 s, thinking: consensus with 6 calls, 900 tokens.',
  )
})

test('the summary of an answer is what its JSON names, otherwise its first line', () => {
  assert.deepEqual(
    [
      answerSummary(`I looked.\n${json}`),
      answerSummary('{"script": null, "why": "one command does it"}'),
      answerSummary('\nPlain words.\nAnd more.'),
      answerSummary('```json\n{"broken": \n```'),
      answerSummary('[]'),
      answerSummary(''),
    ],
    ['pandoc, weasyprint', 'one command does it', 'Plain words.', '```json', '[]', ''],
  )
  assert.deepEqual(
    [latestWords('first\n  "how": "run `make`",\n}'), latestWords('}\n]'), latestWords('')],
    ['how: run make,', '', ''],
  )
})
