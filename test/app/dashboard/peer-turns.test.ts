import type { Event } from '../../../src/core/talk/entry.ts'
import type { TurnChange } from '../../../src/core/talk/machine-turns.ts'
import type { Peer } from '../../../src/core/talk/peer.ts'
import type { Question } from '../../../src/core/talk/question.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { HandClock, settled } from '../../../src/base/hand-clock.ts'
import { PeerTurns } from '../../../src/app/dashboard/peer-turns.ts'
import { RunningTurns } from '../../../src/core/talk/running-turns.ts'

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
  follow: (turn, signal) => turns.follow(turn, signal),
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

test('nothing is followed while nobody is there, so that no turn waits for an answer that nobody can give', async (t) => {
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
