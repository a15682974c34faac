import type { Event } from '../../../../src/core/talk/entry.ts'
import type { LiveChange, TurnChange } from '../../../../src/core/turns/machine-turns.ts'
import type { Peer } from '../../../../src/core/turns/peer.ts'
import type { LiveState } from '../../../../src/page/browser/talk/session-blocks.ts'
import type { Question } from '../../../../src/core/talk/question.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { HandClock, settled } from '../../../hand-clock.ts'
import { PeerTurns } from '../../../../src/hub/server/dashboard/peer-turns.ts'
import { growState } from '../../../../src/page/browser/talk/session-blocks.ts'
import { RunningTurns } from '../../../../src/core/turns/running-turns.ts'

const question: Question = {
  about: 'permission',
  text: 'Run npm publish?',
  from: [],
  options: [
    { id: 'yes', label: 'Yes' },
    { id: 'no', label: 'No' },
  ],
}

/** A connection to the turns of a process, which live on when it is closed. */
const connected = (turns: RunningTurns): Peer => ({
  turns: () => turns.turns(),
  follow: (turn, signal, how) => turns.follow(turn, signal, how),
  answer: (turn, ask, picks) => turns.answer(turn, ask, picks),
  steer: (turn, text) => turns.steer(turn, text),
  cancel: (turn) => turns.cancel(turn),
  terminal: (id) => turns.terminal(id),
  close: async () => {},
})

/** A machine with processes that come and go; each has its own turns. */
function machine() {
  const clock = new HandClock()
  const processes = new Map<string, RunningTurns>()
  const turns = new PeerTurns({
    machine: 'desk',
    clock,
    mask: (text) => text.replaceAll('tmk_secret', '***'),
    find: async () => [...processes].map(([name, peer]) => ({ name, connect: async () => connected(peer) })),
  })
  const reached: unknown[] = []
  const begin = (name: string, turn: string) => {
    const peer = processes.get(name) ?? new RunningTurns()
    processes.set(name, peer)
    return peer.begin(
      { turn, session: 's1', prompt: `do ${turn} with tmk_secret`, since: 1, project: '/p' },
      {
        cancel: () => reached.push(['cancel', turn]),
        steer: (text) => reached.push(['steer', turn, text]) > 0,
        answer: (ask, picks) => reached.push(['answer', turn, ask, picks]) > 0,
      },
    )
  }
  /** Follows until the test ends; all changes are in the list. */
  const follow = (t: { after(work: () => void): void }) => {
    const changes: TurnChange[] = []
    const over = new AbortController()
    t.after(() => over.abort())
    const done = (async () => {
      for await (const change of turns.follow(over.signal)) changes.push(change)
    })()
    return { changes, leave: () => (over.abort(), done) }
  }
  const look = async () => {
    await settled()
    await clock.turn(1_000)
    await settled()
  }
  return { clock, processes, turns, reached, begin, follow, look }
}

const row = (turn: string, over: object = {}) => ({
  type: 'turn',
  row: {
    turn,
    session: 's1',
    prompt: `do ${turn} with ***`,
    since: 1,
    project: '/p',
    machine: 'desk',
    asks: [],
    ...over,
  },
})

test('turns of all processes are seen with their questions and newest words, and are gone with their process', async (t) => {
  const { processes, begin, follow, look } = machine()
  const first = begin('a', 't1')
  const { changes } = follow(t)
  await look()
  begin('b', 't2')
  await look()
  const tell = async (event: Event) => {
    first.see(event)
    await settled()
  }
  await tell({ type: 'reply', text: 'I look.\nThe key is tmk_secret.', by: 'claude' })
  await tell({ type: 'text', delta: 'x', by: 'claude' })
  await tell({ type: 'question', ask: 'q1', question })
  await tell({ type: 'answer', ask: 'q1', picks: ['yes'] })
  first.end()
  await look()
  await processes.get('b')!.close()
  processes.delete('b')
  await look()
  const said = { by: 'claude', words: 'The key is ***.' }
  assert.deepEqual(
    changes.map((change) =>
      change.type === 'turn'
        ? { ...change, row: { ...change.row, asks: change.row.asks.map(({ ask }) => ask) } }
        : change,
    ),
    [
      row('t1'),
      row('t2'),
      row('t1', said),
      row('t1', { ...said, asks: ['q1'] }),
      row('t1', said),
      { type: 'turn-over', turn: 't1' },
      { type: 'turn-over', turn: 't2' },
    ],
  )
})

test('a person answers, steers and cancels a turn; one that is over takes nothing', async (t) => {
  const { turns, reached, begin, follow, look } = machine()
  begin('a', 't1')
  follow(t)
  await look()
  assert.deepEqual(
    [
      await turns.answer('t1', 'q1', ['yes']),
      await turns.steer('t1', 'rather not'),
      await turns.cancel('t1'),
      await turns.answer('t9', 'q1', ['yes']),
      await turns.steer('t9', 'x'),
      await turns.cancel('t9'),
    ],
    [true, true, true, false, false, false],
  )
  assert.deepEqual(reached, [
    ['answer', 't1', 'q1', ['yes']],
    ['steer', 't1', 'rather not'],
    ['cancel', 't1'],
  ])
})

test('no turn is followed while nobody watches, so that none waits for an answer that nobody can give', async (t) => {
  const { clock, processes, begin, follow, look } = machine()
  begin('a', 't1')
  await clock.turn(5_000)
  const peer = processes.get('a')!
  let alone = false
  const { leave, changes } = follow(t)
  await look()
  void peer.unwatched(new AbortController().signal).then(() => (alone = true))
  await settled()
  assert.deepEqual([alone, changes.length], [false, 1])
  await leave()
  await settled()
  assert.deepEqual([alone, clock.asleep], [true, 0])
  const again = follow(t)
  await look()
  assert.deepEqual(again.changes, [row('t1')])
})

test('a follower that reads slowly gets the newest state of each turn', async (t) => {
  const { turns, begin, look } = machine()
  const turn = begin('a', 't1')
  const over = new AbortController()
  t.after(() => over.abort())
  const reader = turns.follow(over.signal)
  const first = reader.next()
  await look()
  await first
  for (let at = 0; at < 3_000; at++) turn.see({ type: 'reply', text: `line ${at}`, by: 'claude' })
  await look()
  const { value } = await reader.next()
  assert.deepEqual(value, row('t1', { by: 'claude', words: 'line 2999' }))
  over.abort()
  assert.deepEqual(await reader.next(), { done: true, value: undefined })
})

/** Reads what the turns of a session show, until the test ends. */
function watch(t: { after(work: () => void): void }, turns: PeerTurns, session = 's1') {
  const changes: LiveChange[] = []
  const over = new AbortController()
  t.after(() => over.abort())
  const done = (async () => {
    for await (const change of turns.watch(session, over.signal)) changes.push(change)
  })()
  return { changes, leave: () => (over.abort(), done) }
}

test('live words come in whole words, only what is new of them, with secrets masked wherever they are cut', async (t) => {
  const { turns, begin, look, clock } = machine()
  const turn = begin('a', 't1')
  turn.see({ type: 'prompt', text: 'go', by: 'user', id: 'e1' } as Event)
  const { changes } = watch(t, turns)
  await look()
  const say = async (delta: string) => {
    turn.see({ type: 'text', delta, by: 'claude' })
    await settled()
    await clock.turn(100)
    await settled()
  }
  changes.length = 0
  await say('The key is tmk_')
  await say('secret now, and a wor')
  await say('d more. ')
  const part = { part: 0, type: 'text', by: 'claude', after: 'e1' }
  const live = { type: 'live', turn: 't1', by: 'claude', progress: [], inside: [] }
  assert.deepEqual(changes, [
    { ...live, speech: [{ ...part, from: 0, text: 'The key is ' }] },
    { ...live, speech: [{ ...part, from: 11, text: '*** now, and a ' }] },
    { ...live, speech: [{ ...part, from: 26, text: 'word more. ' }] },
  ])
})

/** The state that a reader shows after all changes so far. */
const state = (changes: readonly LiveChange[]) =>
  changes.reduce<LiveState | undefined>(
    (was, change) => (change.type === 'live' ? growState(was, change) : was),
    undefined,
  )

test('kept words are live no more, and other sessions do not get them', async (t) => {
  const { turns, begin, look, clock } = machine()
  const turn = begin('a', 't1')
  const { changes } = watch(t, turns)
  const other = watch(t, turns, 's2')
  await look()
  const tell = async (...events: Event[]) => {
    for (const event of events) turn.see(event)
    await settled()
    await clock.turn(100)
    await settled()
  }
  await tell({ type: 'text', delta: 'I look. ', by: 'claude' }, {
    type: 'call',
    call: 'c1',
    tool: 'shell',
    input: {},
    by: 'claude',
    id: 'e2',
  } as Event)
  await tell(
    { type: 'progress', call: 'c1', delta: 'ok 1\n', by: 'claude' },
    { type: 'text', delta: 'All good. ', by: 'claude' },
    { type: 'inner', role: 'critic', event: { type: 'text', delta: 'hm, no\nyes, so ', by: 'codex' } },
  )
  const spoken = state(changes)
  await tell({ type: 'reply', text: 'I look. All good. ', by: 'claude', id: 'e3' } as Event)
  const kept = state(changes)
  turn.end()
  await settled()
  await clock.turn(100)
  await settled()
  const rest = {
    turn: 't1',
    by: 'claude',
    inside: [{ role: 'critic', by: 'codex', words: 'yes, so' }],
    progress: [{ call: 'c1', text: 'ok 1\n' }],
  }
  const said = { type: 'text', by: 'claude' }
  assert.deepEqual(spoken, {
    ...rest,
    speech: [
      { ...said, part: 0, text: 'I look. ' },
      { ...said, part: 1, after: 'e2', text: 'All good. ' },
    ],
  })
  assert.deepEqual(kept, { ...rest, speech: [] })
  assert.deepEqual(changes.at(-1), { type: 'live-over', turn: 't1' })
  assert.deepEqual(other.changes, [])
})

test('a flood of words to a reader that is slow is bounded, and the newest are shown', async (t) => {
  const { turns, begin, look } = machine()
  const turn = begin('a', 't1')
  const over = new AbortController()
  t.after(() => over.abort())
  const reader = turns.watch('s1', over.signal)
  const first = reader.next()
  await look()
  turn.see({ type: 'text', delta: 'begin ', by: 'claude' })
  await first
  for (let at = 0; at < 20_000; at++) turn.see({ type: 'text', delta: `word ${at} of a long answer `, by: 'claude' })
  await settled()
  const next = reader.next()
  await look()
  const { value } = await next
  assert.ok(value?.type === 'live' && JSON.stringify(value).length < 70_000)
  assert.match(value.speech[0]!.text, /word 19999 of a long answer $/)
})

test('no turn waits for a reader who cannot answer, and they read along all the same', async (t) => {
  const { processes, turns, begin, look } = machine()
  const turn = begin('a', 't1')
  const { changes } = watch(t, turns)
  await look()
  turn.see({ type: 'text', delta: 'Hello there. ', by: 'claude' })
  await look()
  let alone = false
  void processes
    .get('a')!
    .unwatched(new AbortController().signal)
    .then(() => (alone = true))
  await settled()
  assert.deepEqual([alone, changes.length > 0], [true, true])
  assert.deepEqual(await turns.answer('t1', 'q1', ['yes']), false, 'only a person who follows the turns reaches them')
})
