import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Entry, Event, Fact } from '../../src/core/talk/entry.ts'
import type { DeskEvent } from '../../src/chat/desk/chat-desk.ts'
import type { ChatState } from '../../src/chat/state/chat-state.ts'
import type { Block } from '../../src/chat/transcript/block.ts'
import { defined } from '../../src/base/defined.ts'
import { rowsIn } from '../../src/chat/transcript/agent-rows.ts'
import { heldSize } from '../../src/chat/transcript/block.ts'
import { emptyState, cleared, nextState, withoutOldest, withEarlier } from '../../src/chat/state/chat-state.ts'

const happen = (turn: string, event: Event): DeskEvent => ({ type: 'event', turn, event })

function after(...happenings: DeskEvent[]): ChatState {
  return happenings.reduce((state, happening, at) => nextState(state, happening, 1000 * (at + 1)), emptyState)
}

function turn(...events: Event[]): ChatState {
  return after(...events.map((event) => happen('t', event)))
}

/** The transcript without what only the machinery needs. */
function seen(state: ChatState): unknown[] {
  return [...state.done, ...state.live].map(bare)
}

function bare({ key: _key, turn: _turn, entry: _entry, ...block }: Block): unknown {
  if (block.type !== 'board') return block
  return { ...block, rows: block.rows.map(({ key: _, ...row }) => ({ ...row, blocks: row.blocks.map(bare) })) }
}

const prompt: Event = { type: 'prompt', text: 'hi', by: 'you' }
const end: Event = { type: 'end', outcome: { ok: true, text: 'hello' } }

test('streamed words become one reply, and the kept reply takes their place', () => {
  const streaming = turn(
    prompt,
    { type: 'text', delta: 'hel', by: 'claude' },
    { type: 'text', delta: 'lo th', by: 'claude' },
  )
  assert.deepEqual(seen(streaming), [
    { type: 'prompt', text: 'hi', by: 'you' },
    { type: 'reply', text: 'hello th', live: true, by: 'claude' },
  ])
  const kept = [{ type: 'reply', text: 'hello', by: 'claude' } as Event, end].reduce(
    (state, event) => nextState(state, happen('t', event), 9000),
    streaming,
  )
  assert.deepEqual(seen(kept), [
    { type: 'prompt', text: 'hi', by: 'you' },
    { type: 'reply', text: 'hello', live: false, by: 'claude' },
  ])
  assert.deepEqual([kept.live, kept.running], [[], []])
  assert.equal(kept.done[1]!.key, streaming.live[1]!.key, 'it is the same block')
})

test('one more word changes one block and does not copy the long list', () => {
  const before = turn(prompt, { type: 'text', delta: 'hel', by: 'claude' })
  const grown = nextState(before, happen('t', { type: 'text', delta: 'lo', by: 'claude' }), 9000)
  assert.equal(grown.done, before.done)
  assert.equal(grown.live[0], before.live[0])
  assert.notEqual(grown.live[1], before.live[1])
  assert.equal(grown.live[1]!.key, before.live[1]!.key)
})

test('words before a call stay before it, and are not said again by the reply', () => {
  const kinds = (state: ChatState) =>
    seen(state).map((block) => {
      const { type, text } = block as { type: string; text?: string }
      return text === undefined ? type : `${type} ${text}`
    })
  const acted: Event[] = [
    prompt,
    { type: 'text', delta: 'I look.', by: 'claude' },
    { type: 'call', call: 'c', tool: 'Read', input: {}, by: 'claude' },
    { type: 'result', call: 'c', ok: true, text: 'x', by: 'claude' },
  ]
  const told = turn(
    ...acted,
    { type: 'text', delta: 'Do', by: 'claude' },
    { type: 'reply', text: 'Done.', by: 'claude' },
    end,
  )
  assert.deepEqual(kinds(told), ['prompt hi', 'reply I look.', 'call', 'reply Done.'])
  const silent = turn(...acted, { type: 'reply', text: 'Done.', by: 'claude' }, end)
  assert.deepEqual(kinds(silent), ['prompt hi', 'reply I look.', 'call', 'reply Done.'])
  const whole = turn(...acted, { type: 'reply', text: 'I look. Done.', by: 'claude' }, end)
  assert.deepEqual(kinds(whole), ['prompt hi', 'reply I look.', 'call', 'reply Done.'])
})

test('words between steps stay where they were seen when the reply joins them, and a restart shows the same', () => {
  const kinds = (state: ChatState) =>
    (seen(state) as Block[]).map((block) =>
      'text' in block ? block.text : block.type === 'call' ? block.call : block.type,
    )
  const text = (delta: string): Event => ({ type: 'text', delta, by: 'codex' })
  const call = (id: string): Event[] => [
    { type: 'call', call: id, tool: 'shell', input: {}, by: 'codex' },
    { type: 'result', call: id, ok: true, text: 'x', by: 'codex' },
  ]
  const calls = [
    { call: 'a', at: 7 },
    { call: 'b', at: 25 },
  ]
  const reply: Event = { type: 'reply', text: 'I look.\n\nOK, now I edit.\n\nAll done: OK.', calls, by: 'codex' }
  const shown = ['hi', 'I look.', 'a', 'OK, now I edit.', 'b', 'All done: OK.']
  const steps = [prompt, text('I look.\n'), ...call('a'), text('OK, now'), text(' I edit.\n'), ...call('b')]
  const live = turn(...steps, text('All done: '), reply, end)
  assert.deepEqual(
    kinds(live).map((one) => one.trim()),
    shown,
  )
  assert.deepEqual(kinds(turn(prompt, ...call('a'), ...call('b'), reply, end)), shown)
  const followed = turn(prompt, ...call('a'), text('OK, now I edit.\n'), ...call('b'), text('All'), reply, end)
  assert.deepEqual(kinds(followed), shown)
  const silent = { ...reply, text: 'I look.\n\nOK, now I edit.' }
  assert.deepEqual(
    kinds(turn(...steps, silent, end)).map((one) => one.trim()),
    shown.slice(0, 5),
  )
  assert.deepEqual(kinds(turn(prompt, ...call('a'), ...call('b'), silent, end)), shown.slice(0, 5))
})

test('half an answer of an agent that failed stays above the line that says who went on, and a restart shows the same', () => {
  const failure = { kind: 'quota', message: 'out of quota' } as const
  const call: Event = { type: 'call', call: 'c', tool: 'Read', input: { path: 'a' }, by: 'gemini' }
  const words: Event = {
    ...{ type: 'words', text: 'I look.\n\nThe answ', cut: 'limit', by: 'gemini' },
    calls: [{ call: 'c', at: 7 }],
  }
  const attempt: Event = { type: 'attempt', failure, ms: 700, by: 'gemini' }
  const next: Event = { type: 'text', delta: 'It is 4', by: 'claude' }
  const text = (delta: string): Event => ({ type: 'text', delta, by: 'gemini' })
  const state = turn(
    prompt,
    { type: 'thought', delta: 'hm', by: 'gemini' },
    text('I look.'),
    call,
    text('The answ'),
    words,
    attempt,
    next,
  )
  const failed = { live: false, failed: true, by: 'gemini' }
  const shown = [
    { type: 'reply', text: 'I look.', ...failed },
    {
      type: 'call',
      call: 'c',
      tool: 'Read',
      input: { path: 'a' },
      state: 'running',
      output: '',
      changes: [],
      by: 'gemini',
    },
    { type: 'reply', text: 'The answ', cut: 'limit', ...failed },
    { type: 'attempt', failure, ms: 700, said: '', next: 'claude', by: 'gemini' },
    { type: 'reply', text: 'It is 4', live: true, by: 'claude' },
  ]
  const timeless = (all: unknown[]) => all.map((block) => ({ ...(block as object), since: undefined })).map(defined)
  assert.deepEqual(timeless(seen(state)), [
    { type: 'prompt', text: 'hi', by: 'you' },
    { type: 'thought', text: 'hm', ...failed },
    ...shown,
  ])
  assert.deepEqual(timeless(seen(turn(prompt, call, words, attempt, next))), [
    { type: 'prompt', text: 'hi', by: 'you' },
    ...shown,
  ])
  const untold: Event = { ...attempt, did: { calls: [], files: [], lastWords: 'The answ' } }
  const [, unspoken] = seen(turn(prompt, untold)) as Block[]
  assert.deepEqual(unspoken, { type: 'attempt', failure, ms: 700, said: 'The answ', by: 'gemini' })
})

test('when all agents fail, each reason is shown once, and each attempt names the next agent', () => {
  const failure = (message: string) => ({ kind: 'crash', message }) as const
  const message = 'no agent could answer: gemini failed: it broke; claude failed: this one too'
  const state = turn(
    prompt,
    { type: 'attempt', failure: failure('it broke'), ms: 1, by: 'gemini' },
    { type: 'note', text: 'claude goes on', by: 'termaite' },
    { type: 'attempt', failure: failure('this one too'), ms: 2, by: 'claude' },
    { type: 'end', outcome: { ok: false, failure: failure(message) }, by: 'termaite' },
  )
  assert.deepEqual(seen(state).slice(1), [
    { type: 'attempt', failure: failure('it broke'), ms: 1, said: '', next: 'claude', by: 'gemini' },
    { type: 'note', text: 'claude goes on', by: 'termaite' },
    { type: 'attempt', failure: failure('this one too'), ms: 2, said: '', by: 'claude' },
    { type: 'error', failure: failure('no agent could answer'), said: '', by: 'termaite' },
  ])
})

test('a wait that the person chose is no failure', () => {
  const ended = (pick: string, kind: 'quota' | 'aborted'): ChatState =>
    turn(
      prompt,
      {
        type: 'question',
        ask: 'q',
        question: { about: 'quota', text: 'spent', from: [], agent: 'gemini', options: [] },
        by: 'termaite',
      },
      { type: 'answer', ask: 'q', picks: [pick] },
      { type: 'end', outcome: { ok: false, failure: { kind, message: 'gemini is waited for', retryAt: 7 } } },
    )
  assert.deepEqual(seen(ended('wait', 'quota')).at(-1), { type: 'waits', agent: 'gemini', until: 7 })
  assert.equal(ended('stop', 'quota').done.at(-1)?.type, 'error')
  assert.equal(ended('wait', 'aborted').done.at(-1)?.type, 'error')
})

test('a question belongs to the agent it is about, not to termaite that keeps it', () => {
  const ask = (id: string, agent?: string): Event => ({
    type: 'question',
    ask: id,
    question: { about: 'permission', text: '?', from: [], options: [], ...(agent ? { agent } : {}) },
    by: 'termaite',
  })
  const state = turn(prompt, { type: 'text', delta: 'I must', by: 'claude' }, ask('1'), ask('2', 'gemini'))
  assert.deepEqual(
    state.asks.map(({ ask: id, by }) => [id, by]),
    [
      ['1', 'claude'],
      ['2', 'gemini'],
    ],
  )
  assert.equal(state.running[0]!.by, 'claude')
})

test('the question about a call stands below it, whichever comes first', () => {
  const call: Event = { type: 'call', call: 'c', tool: 'Bash', input: 'ls', by: 'claude' }
  const question: Event = {
    type: 'question',
    ask: 'q',
    question: { about: 'permission', text: 'May I?', from: [], agent: 'claude', options: [] },
    by: 'termaite',
  }
  const answer: Event = { type: 'answer', ask: 'q', picks: ['yes'] }
  const kinds = (...events: Event[]) => turn(prompt, ...events).live.map(({ type }) => type)
  assert.deepEqual(kinds(question, call, answer), ['prompt', 'call', 'question'])
  assert.deepEqual(kinds(call, question, answer), ['prompt', 'call', 'question'])
  assert.deepEqual(kinds(question, answer, call), ['prompt', 'question', 'call'])
})

test('a turn that ends without an answer shows why, and what was said is no reply', () => {
  const failure = { kind: 'aborted', message: 'cancelled' } as const
  const state = turn(
    prompt,
    { type: 'call', call: 'c', tool: 'Bash', input: 'ls', by: 'claude' },
    { type: 'text', delta: 'Half', by: 'claude' },
    { type: 'end', outcome: { ok: false, failure } },
  )
  assert.deepEqual(seen(state), [
    { type: 'prompt', text: 'hi', by: 'you' },
    {
      type: 'call',
      call: 'c',
      tool: 'Bash',
      input: 'ls',
      state: 'stopped',
      since: 2000,
      output: '',
      changes: [],
      by: 'claude',
    },
    { type: 'error', failure, said: 'Half' },
  ])
})

test('words that were cut off stay where they were streamed and say what cut them, and a restart shows the same', () => {
  const words: Event = { type: 'words', text: 'I look.\n\nIt is in', cut: 'person', by: 'claude' }
  const over: Event = { type: 'end', outcome: { ok: false, failure: { kind: 'aborted', message: 'cancelled' } } }
  const streamed = turn(
    prompt,
    { type: 'text', delta: 'I look.', by: 'claude' },
    { type: 'call', call: 'c', tool: 'Read', input: {}, by: 'claude' },
    { type: 'result', call: 'c', ok: true, text: 'done', by: 'claude' },
    { type: 'text', delta: 'It is in', by: 'claude' },
    words,
    over,
  )
  const error = { type: 'error', failure: { kind: 'aborted', message: 'cancelled' }, said: '' }
  assert.deepEqual(
    seen(streamed).filter((block) => (block as Block).type !== 'call'),
    [
      { type: 'prompt', text: 'hi', by: 'you' },
      { type: 'reply', text: 'I look.', live: false, by: 'claude' },
      { type: 'reply', text: 'It is in', live: false, cut: 'person', by: 'claude' },
      error,
    ],
  )
  assert.deepEqual(seen(turn(prompt, words, over)), [
    { type: 'prompt', text: 'hi', by: 'you' },
    { type: 'reply', text: 'I look.\n\nIt is in', live: false, cut: 'person', by: 'claude' },
    error,
  ])
})

test('words before a call are in their place after a restart', () => {
  const call: Event[] = [
    { type: 'call', call: 'c', tool: 'Read', input: {}, by: 'claude' },
    { type: 'result', call: 'c', ok: true, text: 'done', by: 'claude' },
  ]
  const kept: Event[] = [
    { type: 'words', text: 'I look.', call: 'c', by: 'claude' },
    { type: 'reply', text: 'hello', by: 'claude' },
    end,
  ]
  const told = (delta: string): Event => ({ type: 'text', delta, by: 'claude' })
  const kinds = (state: ChatState) =>
    (seen(state) as Block[]).map((block) => ('text' in block ? block.text : block.type))
  assert.deepEqual(kinds(turn(prompt, told('I look.\n'), ...call, told('hel'), ...kept)), [
    'hi',
    'I look.',
    'call',
    'hello',
  ])
  assert.deepEqual(kinds(turn(prompt, ...call, ...kept)), ['hi', 'I look.', 'call', 'hello'])
})

test('words of a consulted agent are in its row, while it is at work and after a restart', () => {
  const words: Event = { type: 'words', text: 'no', from: ['critic'], by: 'gemini' }
  const inner = (event: Event): Event => ({ type: 'inner', role: 'critic', event })
  const row = { role: 'critic', by: 'gemini', state: 'done', since: 2000 }
  const reply = { type: 'reply', text: 'no', live: false, by: 'gemini' }
  const streamed = turn(
    prompt,
    inner({ type: 'text', delta: 'n', by: 'gemini' }),
    inner({ type: 'reply', text: 'no', by: 'gemini' }),
    words,
    inner({ type: 'end', outcome: { ok: true, text: 'no' }, by: 'gemini' }),
    end,
  )
  assert.deepEqual(seen(streamed)[1], { type: 'board', rows: [{ ...row, ms: 3000, blocks: [reply] }] })
  assert.deepEqual(seen(turn(prompt, words, end))[1], { type: 'board', rows: [{ ...row, blocks: [reply] }] })
})

test('a call shows its progress, then what came of it and which files it changed', () => {
  const change = { path: 'a.ts', before: 'x', after: 'y' }
  const running = turn(
    prompt,
    { type: 'call', call: 'c', tool: 'Edit', input: { path: 'a.ts' }, by: 'claude' },
    { type: 'progress', call: 'c', delta: 'work' },
    { type: 'progress', call: 'c', delta: 'ing' },
  )
  assert.equal((running.live[1] as { output: string }).output, 'working')
  assert.deepEqual(running.running, [
    { turn: 't', since: 1000, calls: [{ call: 'c', tool: 'Edit' }], lastAt: 4000, files: [], by: 'claude' },
  ])
  const done = nextState(
    running,
    happen('t', { type: 'result', call: 'c', ok: true, text: 'edited', data: [change], by: 'claude' }),
    6500,
  )
  assert.deepEqual(bare(done.live[1]!), {
    type: 'call',
    call: 'c',
    tool: 'Edit',
    input: { path: 'a.ts' },
    state: 'ok',
    since: 2000,
    ms: 4500,
    output: 'edited',
    changes: [change],
    by: 'claude',
  })
  assert.deepEqual(done.running, [{ turn: 't', since: 1000, calls: [], lastAt: 6500, files: ['a.ts'], by: 'claude' }])
})

test('a command that ran and failed is shown as failed, and one that was ended too', () => {
  const states = [0, 1, 'SIGKILL', undefined].map((exit) => {
    const data = exit === undefined ? {} : { data: { exit } }
    const call: Event = { type: 'call', call: 'c', tool: 'bash', input: { command: 'npm test' }, by: 'claude' }
    const [, block] = seen(
      turn(prompt, call, { type: 'result', call: 'c', ok: true, text: 'x', ...data, by: 'claude' }),
    )
    return (block as { state: string }).state
  })
  assert.deepEqual(states, ['ok', 'failed', 'failed', 'ok'])
})

test('questions queue up, and become one remembered line each', () => {
  const question = { about: 'permission', text: 'May I?', from: [], options: [{ id: 'yes', label: 'Yes' }] } as const
  const ask = (id: string): Event => ({
    type: 'question',
    ask: id,
    question: { ...question, from: [], options: [...question.options] },
    by: 'claude',
  })
  const asked = turn(prompt, ask('1'), ask('2'))
  assert.deepEqual(
    asked.asks.map(({ ask }) => ask),
    ['1', '2'],
  )
  const answered = nextState(asked, happen('t', { type: 'answer', ask: '1', picks: ['yes'] }), 9000)
  assert.deepEqual(
    answered.asks.map(({ ask }) => ask),
    ['2'],
  )
  const over = nextState(answered, happen('t', end), 9500)
  assert.deepEqual(over.asks, [])
  assert.deepEqual(
    seen(over).flatMap((block) => {
      const { type, state, picks } = block as { type: string; state: string; picks: string[] }
      return type === 'question' ? [{ state, picks }] : []
    }),
    [
      { state: 'answered', picks: ['yes'] },
      { state: 'unanswered', picks: [] },
    ],
  )
})

test('a command may ask while nothing runs, and its answer is remembered', () => {
  const question = { about: 'trust' as const, text: 'Trust?', from: [], options: [] }
  const asked = after(happen('', { type: 'question', ask: 'q', question }))
  assert.equal(asked.asks.length, 1)
  const answered = nextState(asked, happen('', { type: 'answer', ask: 'q', picks: ['y'] }), 2000)
  assert.deepEqual(
    [answered.asks, seen(answered)],
    [[], [{ type: 'question', ask: 'q', question, state: 'answered', picks: ['y'] }]],
  )
})

test('consulted agents are one group a role, and a plan is one block that changes', () => {
  const plan = (status: 'pending' | 'completed'): Event => ({
    type: 'plan',
    items: [{ task: 'look', status }],
    by: 'claude',
  })
  const inner = (role: string, event: Event): Event => ({ type: 'inner', role, event })
  const state = turn(
    prompt,
    inner('advisor', { type: 'text', delta: 'I ', by: 'gemini' }),
    inner('critic', { type: 'text', delta: 'no', by: 'codex' }),
    inner('advisor', { type: 'text', delta: 'think', by: 'gemini' }),
    plan('pending'),
    plan('completed'),
  )
  assert.deepEqual(seen(state), [
    { type: 'prompt', text: 'hi', by: 'you' },
    {
      type: 'board',
      rows: [
        {
          role: 'advisor',
          by: 'gemini',
          state: 'working',
          since: 2000,
          blocks: [{ type: 'reply', text: 'I think', live: true, by: 'gemini' }],
        },
        {
          role: 'critic',
          by: 'codex',
          state: 'working',
          since: 3000,
          blocks: [{ type: 'reply', text: 'no', live: true, by: 'codex' }],
        },
      ],
    },
    { type: 'plan', items: [{ task: 'look', status: 'completed' }], by: 'claude' },
  ])
})

test('an endless text that is still written is held by its end, and code in it stays code', () => {
  const lines = Array.from({ length: 30_000 }, (_, at) => `line ${at}\n`)
  const state = turn(
    prompt,
    { type: 'text', delta: 'Look:\n```ts\n', by: 'a' },
    ...lines.map((delta) => ({ type: 'text' as const, delta, by: 'a' })),
    { type: 'text', delta: 'the end', by: 'a' },
  )
  const { text, dropped } = state.live[1] as { text: string; dropped: number }
  const whole = `Look:\n\`\`\`ts\n${lines.join('')}the end`
  assert.match(text, /^```ts\nline \d+\n[^]*line 29999\nthe end$/)
  assert.ok(text.length <= 64 * 1024)
  // The fence stands before each held end, and is counted when that end is cut again.
  assert.ok(whole.endsWith(text.slice('```ts\n'.length)))
  assert.ok(dropped >= whole.length - text.length)
})

test('an endless text that is whole is held by its beginning', () => {
  const state = turn(prompt, { type: 'reply', text: 'x'.repeat(300_000), by: 'a' })
  const { text, more } = state.live[1] as { text: string; more: number }
  assert.deepEqual([text.length, more], [200_000, 100_000])
})

let id = 0
const entry = (turn: string, at: number, fact: Fact, by = 'claude'): Entry => ({
  ...fact,
  id: `e${++id}`,
  at,
  by,
  session: 's',
  turn,
})

function keptTurn(name: string, at: number): Entry[] {
  return [
    entry(name, at, { type: 'prompt', text: name }, 'you'),
    entry(name, at + 10, { type: 'call', call: `${name}-c`, tool: 'Read', input: {} }),
    entry(name, at + 30, { type: 'result', call: `${name}-c`, ok: true, text: 'body' }),
    entry(name, at + 40, { type: 'usage', input: 10, output: 5, source: 'reported' }),
    entry(name, at + 50, { type: 'reply', text: `answer to ${name}` }),
    entry(name, at + 60, { type: 'end', outcome: { ok: true, text: `answer to ${name}` } }),
  ]
}

test('kept entries are shown as they were when they happened, closing line included', () => {
  const state = after({ type: 'opened', entries: keptTurn('one', 100), more: false })
  assert.deepEqual(seen(state), [
    { type: 'prompt', text: 'one', by: 'you' },
    {
      type: 'call',
      call: 'one-c',
      tool: 'Read',
      input: {},
      state: 'ok',
      since: 110,
      ms: 20,
      output: 'body',
      changes: [],
      by: 'claude',
    },
    { type: 'reply', text: 'answer to one', live: false, by: 'claude' },
    { type: 'closing', closing: { turn: 'one', ms: 60, by: 'claude', tokens: 15, source: 'reported' } },
  ])
  assert.deepEqual(state.live, [])
})

test('a conversation read in two parts is the same as one read whole', () => {
  const entries = [...keptTurn('one', 100), ...keptTurn('two', 200), ...keptTurn('three', 300)]
  const whole = after({ type: 'opened', entries, more: false })
  for (let cut = 1; cut < entries.length; cut++) {
    const newest = after({ type: 'opened', entries: entries.slice(cut), more: true })
    const all = withEarlier(newest, entries.slice(0, cut), false)
    const known = new Set(seen(whole).map((block) => JSON.stringify(block)))
    const kinds = (state: ChatState) => seen(state).filter((block) => (block as Block).type !== 'closing')
    assert.deepEqual(kinds(all), kinds(whole), `cut before entry ${cut}`)
    assert.ok(
      seen(all).every((block) => known.has(JSON.stringify(block))),
      `cut before entry ${cut}`,
    )
    assert.equal(all.oldest, entries[0]!.id)
  }
})

test('the oldest blocks are dropped up to a prompt, and can be loaded again from there', () => {
  const entries = [...keptTurn('one', 100), ...keptTurn('two', 200), ...keptTurn('three', 300)]
  const whole = after({ type: 'opened', entries, more: false })
  const short = withoutOldest(whole, 7)
  assert.deepEqual([short.more, short.oldest, short.done[0]!.entry], [true, entries[12]!.id, entries[12]!.id])
  assert.deepEqual(seen(withEarlier(short, entries.slice(0, 12), false)), seen(whole))
})

test('blocks that hold too many characters are dropped up to a prompt, however few they are', () => {
  const entries = [...keptTurn('one', 100), ...keptTurn('two', 200), ...keptTurn('three', 300)]
  const whole = after({ type: 'opened', entries, more: false })
  const size = (blocks: readonly Block[]) => blocks.reduce((sum, block) => sum + heldSize(block), 0)
  const last = whole.done.slice(whole.done.findLastIndex(({ type }) => type === 'prompt'))
  const short = withoutOldest(whole, 1000, size(last))
  assert.deepEqual([short.more, short.oldest, short.done], [true, entries[12]!.id, last])
  assert.equal(withoutOldest(whole, 1000, size(whole.done)), whole)
  assert.deepEqual(seen(withEarlier(short, entries.slice(0, 12), false)), seen(whole))
})

test('a followed turn continues after its kept entries, and nothing is shown twice', () => {
  const [begun, call, result] = keptTurn('far', 100) as [Entry, Entry, Entry]
  const open = after({ type: 'opened', entries: [begun, call], more: false })
  const told = nextState(open, { type: 'said', text: 'by the way', how: 'note' }, 5000)
  const followed = [begun, call, result, { type: 'text', delta: 'so', by: 'claude' } as Event].reduce(
    (state, event) => nextState(state, happen('far', event), 6000),
    told,
  )
  assert.deepEqual(
    seen(followed).map((block) => (block as Block).type),
    ['prompt', 'call', 'told', 'reply'],
  )
  assert.equal((followed.live[1] as { state: string }).state, 'ok')
  assert.deepEqual(followed.running[0]!.since, 100)
})

test('clearing the screen leaves the turn at work on it', () => {
  const idle = after({ type: 'opened', entries: keptTurn('one', 100), more: true })
  assert.deepEqual([seen(cleared(idle)), cleared(idle).more], [[], false])
  const busy = nextState(idle, happen('t', prompt), 5000)
  assert.deepEqual(seen(cleared(busy)), [{ type: 'prompt', text: 'hi', by: 'you' }])
})

test('the agent that failed is not said to be at work, alone or in a consultation', () => {
  const failure = { kind: 'quota', message: 'no more' } as const
  const tried: Event = { type: 'attempt', failure, ms: 5, by: 'claude' }
  const at = (...events: Event[]) => turn(prompt, { type: 'text', delta: 'hel', by: 'claude' }, ...events).running[0]!
  assert.deepEqual([at().by, at(tried).by], ['claude', undefined])
  const next: Event = { type: 'waiting', words: 'starting codex', by: 'termaite' }
  assert.deepEqual([at(tried, next).by, at(tried, next).waiting], [undefined, { words: 'starting codex', since: 4000 }])
  assert.deepEqual(at(tried, next, next).waiting, { words: 'starting codex', since: 4000 })
  const spoke = at(tried, next, { type: 'text', delta: 'hi', by: 'codex' })
  assert.deepEqual([spoke.by, spoke.waiting], ['codex', undefined])

  const inner = (event: Event): Event => ({ type: 'inner', role: 'judge', event })
  const asked = turn(prompt, inner({ type: 'state', state: 'starting', by: 'claude' }))
  const over = nextState(asked, happen('t', inner(tried)), 9000)
  const kept = turn(prompt, { type: 'words', text: 'no', from: ['judge'], by: 'claude' })
  assert.equal(kept.running[0]!.by, undefined)
  const agents = (state: ChatState) => rowsIn(state.live).map(({ by }) => by)
  assert.deepEqual([agents(asked), agents(over)], [['claude'], [undefined]])
})

test('a prompt that was sent is shown at once, and the kept one takes its place', () => {
  const sent: DeskEvent = { type: 'sent', sent: 's', text: 'look at @a', starts: 'turn' }
  const shown = after(sent)
  assert.deepEqual(seen(shown), [{ type: 'prompt', text: 'look at @a', by: 'user' }])
  assert.deepEqual(shown.running, [{ turn: 's', since: 1000, calls: [], lastAt: 1000, files: [] }])
  const note: DeskEvent = { type: 'said', text: 'Another turn runs.', how: 'note' }
  const fact = {
    type: 'prompt',
    text: 'look at @a: b',
    id: 'e',
    at: 1500,
    by: 'user',
    session: 'x',
    turn: 't',
  } as Entry
  const kept = after(sent, note, { type: 'event', turn: 't', event: fact, sent: 's' })
  assert.deepEqual(seen(kept), [
    { type: 'prompt', text: 'look at @a: b', by: 'user' },
    { type: 'told', text: 'Another turn runs.', how: 'note' },
  ])
  assert.deepEqual([kept.live[0]!.key, kept.live[0]!.turn, kept.live[0]!.entry], [shown.live[0]!.key, 't', 'e'])
  assert.deepEqual(
    kept.running.map((run) => [run.turn, run.since]),
    [['t', 1000]],
  )
  const ended = nextState(kept, happen('t', end), 9000)
  assert.deepEqual([ended.running, ended.live, ended.done.length], [[], [], 3])
})

test('a prompt that was sent and given back leaves nothing on the screen', () => {
  const back: DeskEvent = { type: 'sent', sent: 's' }
  for (const starts of ['turn', 'command', undefined] as const) {
    const state = after(defined({ type: 'sent' as const, sent: 's', text: 'hi', starts }), back)
    assert.deepEqual([state.done, state.live, state.running], [[], [], []])
  }
})

test('words of a command stay when the first page is read after them, and go with their conversation', () => {
  const said: DeskEvent = { type: 'said', text: 'No command is in the background.', how: 'note' }
  const opened: DeskEvent = { type: 'opened', entries: [], more: false }
  assert.deepEqual(seen(after(said, opened)), [{ type: 'told', text: 'No command is in the background.', how: 'note' }])
  assert.deepEqual(seen(after(opened, said, opened)), [])
})

test('a prompt that was sent before its conversation was opened stays, and stands there once', () => {
  const send: DeskEvent = { type: 'sent', sent: 's', text: 'hi', starts: 'turn' }
  const opened: DeskEvent = { type: 'opened', entries: keptTurn('one', 100), more: false }
  const open = after(send, opened)
  const prompts = ({ done, live }: ChatState) =>
    [...done, ...live].flatMap((block) => (block.type === 'prompt' ? [[block.turn, block.text]] : []))
  const before = prompts(after(opened))
  assert.deepEqual(prompts(open), [...before, ['s', 'hi']])
  assert.deepEqual(
    open.running.map(({ turn }) => turn),
    ['s'],
  )
  const [kept] = keptTurn('two', 200)
  const arrives: DeskEvent = { type: 'event', turn: 'two', event: kept!, sent: 's' }
  const reads: DeskEvent = { type: 'opened', entries: [...keptTurn('one', 100), kept!], more: false }
  for (const state of [after(send, opened, arrives), after(send, reads, arrives)]) {
    assert.deepEqual(prompts(state).slice(before.length), [['two', (kept as { text: string }).text]])
    assert.deepEqual(
      state.running.map(({ turn }) => turn),
      ['two'],
    )
  }
})

test('a question of a command stays open when another conversation takes the screen', () => {
  const question = { about: 'permission', text: 'Add it?', from: [], options: [] } as const
  const asked: Event = { type: 'question', ask: 'q', question: { ...question, from: [], options: [] } }
  const opened: DeskEvent = { type: 'opened', entries: [], more: false }
  const open = after(happen('', asked), happen('t', { ...asked, ask: 'of a turn' }), opened)
  assert.deepEqual(
    open.asks.map(({ ask }) => ask),
    ['q'],
  )
  assert.deepEqual(nextState(open, happen('', { type: 'answer', ask: 'q', picks: ['no'] }), 5).asks, [])
})
