import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../cases.ts'
import type { Entry, Fact } from '../../src/core/talk/entry.ts'
import type { FailureKind } from '../../src/core/talk/outcome.ts'
import { failed } from '../../src/core/talk/outcome.ts'
import { endedTurns, missedEntries, agentsThatSaw, view, withoutOldSteps } from '../../src/core/talk/view.ts'
import { answeredTurn, entryMaker, idsOf } from './made.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

test('turns stand in the order of their ends, each whole, and one that runs is not there', () => {
  const make = entryMaker()
  const slow = make('slow', 'user', { type: 'prompt', text: 'slow' })
  const fast = answeredTurn(make, 'fast', 'quick', 'claude', 'done')
  const slowEnd = make('slow', 'codex', { type: 'end', outcome: { ok: true, text: 'late' } })
  const running = make('running', 'user', { type: 'prompt', text: 'now' })
  assert.deepEqual(view([slow, ...fast, slowEnd, running]), [...fast, slow, slowEnd])
})

test('two ends of one turn count once, at the first', () => {
  const make = entryMaker()
  const prompt = make('a', 'user', { type: 'prompt', text: 'a' })
  const first = make('a', 'termaite', { type: 'end', outcome: { ok: true, text: '' } })
  const other = answeredTurn(make, 'b', 'b', 'claude', 'b')
  const second = make('a', 'termaite', { type: 'end', outcome: { ok: true, text: '' } })
  assert.deepEqual(idsOf(view([prompt, first, ...other, second])), ['e1', 'e2', 'e3', 'e4', 'e5'])
})

test('the furthest summary stands for everything before it, whichever was written last', () => {
  const make = entryMaker()
  const [one, two, three] = ['1', '2', '3'].map((name) => answeredTurn(make, name, name, 'claude', name))
  const far = make('', 'termaite', { type: 'summary', text: 'one and two', through: two!.at(-1)!.id })
  const near = make('', 'termaite', { type: 'summary', text: 'one', through: one!.at(-1)!.id })
  assert.deepEqual(view([...one!, ...two!, ...three!, far, near]), [far, ...three!])
})

test('a summary of turns that were not read back stands for all before', () => {
  const make = entryMaker()
  const summary = make('', 'termaite', { type: 'summary', text: 'old', through: 'elsewhere' })
  const turn = answeredTurn(make, '1', 'hi', 'claude', 'hello')
  assert.deepEqual(view([summary, ...turn]), [summary, ...turn])
})

test('compaction while a turn runs loses nothing of it', () => {
  const make = entryMaker()
  const old = answeredTurn(make, 'old', 'old', 'claude', 'old')
  const prompt = make('long', 'user', { type: 'prompt', text: 'long' })
  const summary = make('', 'termaite', { type: 'summary', text: 'what was old', through: old.at(-1)!.id })
  const reply = make('long', 'codex', { type: 'reply', text: 'done' })
  const end = make('long', 'codex', { type: 'end', outcome: { ok: true, text: 'done' } })
  assert.deepEqual(view([...old, prompt, summary, reply, end]), [summary, prompt, reply, end])
})

test('words in a finished piece of a turn stay, even if an agent of it fails later', () => {
  const make = entryMaker()
  const failure = { kind: 'quota' as const, message: 'spent' }
  const entries = [
    make('t', 'user', { type: 'prompt', text: 'go' }),
    make('t', 'gemini', { type: 'reply', text: 'the first piece' }),
    make('t', 'termaite', { type: 'note', text: 'the check failed' }),
    make('t', 'gemini', { type: 'reply', text: 'half of the second' }),
    make('t', 'gemini', { type: 'attempt', failure, ms: 1 }),
    make('t', 'claude', { type: 'reply', text: 'the second piece' }),
    make('t', 'claude', { type: 'end', outcome: { ok: true, text: '' } }),
  ]
  assert.deepEqual(
    view(entries),
    entries.filter((_, index) => index !== 3),
  )
})

test('a failed attempt keeps its calls and loses its replies; the one that answered keeps its own', () => {
  const make = entryMaker()
  const failure = { kind: 'crash' as const, message: 'exited' }
  const entries = [
    make('t', 'user', { type: 'prompt', text: 'go' }),
    make('t', 'gemini', { type: 'reply', text: 'I start', step: 1 }),
    make('t', 'gemini', { type: 'call', call: 'c', tool: 'bash', input: 'ls' }),
    make('t', 'gemini', { type: 'attempt', failure, ms: 1 }),
    make('t', 'claude', { type: 'reply', text: 'first', step: 1 }),
    make('t', 'claude', { type: 'reply', text: 'second', step: 2 }),
    make('t', 'claude', { type: 'end', outcome: { ok: true, text: 'second' } }),
  ]
  assert.deepEqual(idsOf(view(entries)), ['e1', 'e3', 'e4', 'e5', 'e6', 'e7'])
})

test('a turn that reached no agent is left out; one that was cancelled or tried is not', () => {
  const make = entryMaker()
  const prompt = (turn: string) => make(turn, 'user', { type: 'prompt', text: turn })
  const end = (turn: string, kind: FailureKind) => make(turn, 'rotation', { type: 'end', outcome: failed(kind, kind) })
  const unreached = (['quota', 'busy', 'auth', 'missing', 'denied', 'unfinished'] as const).flatMap((kind) => [
    prompt(kind),
    end(kind, kind),
  ])
  const cancelled = [prompt('c'), end('c', 'aborted')]
  const failure = { kind: 'quota' as const, message: 'limit' }
  const tried = [prompt('t'), make('t', 'claude', { type: 'attempt', failure, ms: 1 }), end('t', 'quota')]
  assert.deepEqual(view([...unreached, ...cancelled, ...tried]), [...cancelled, ...tried])
})

test('the agents that saw a conversation: all that spoke or tried, those that a summary names, and a stranger where it names none', () => {
  const make = entryMaker()
  const turn = answeredTurn(make, '1', 'q', 'claude', 'a')
  const summary = (shared?: string[]) =>
    make('', 'termaite', { type: 'summary', text: 's', through: 'x', ...(shared ? { shared } : {}) })
  assert.deepEqual(agentsThatSaw([summary(['codex', 'claude']), ...turn]), ['codex', 'claude'])
  assert.deepEqual(agentsThatSaw([summary(), ...turn]), ['termaite', 'claude'])
  assert.deepEqual(agentsThatSaw(turn.slice(0, 1)), [])
  const usage = { type: 'usage' as const, input: 1, output: 1, source: 'reported' as const }
  assert.deepEqual(agentsThatSaw([make('2', 'gemini', usage)]), ['gemini'])
  assert.deepEqual(agentsThatSaw([make('2', 'termaite', { type: 'call', call: 'c', tool: 'bash', input: {} })]), [])
})

test('a trim leaves out old raw outputs, and nothing else', (t) => {
  const make = entryMaker()
  const long = 'x'.repeat(201)
  const turn = (name: string) => [
    make(name, 'user', { type: 'prompt', text: long }),
    make(name, 'native', { type: 'call', call: 'c', tool: 'bash', input: long }),
    make(name, 'native', { type: 'result', call: 'c', ok: true, text: long, data: [1] }),
    make(name, 'native', { type: 'end', outcome: { ok: true, text: long } }),
  ]
  const [old, young] = [turn('old'), turn('young')]
  const trim = make('', 'termaite', { type: 'trim', through: old.at(-1)!.id })
  golden(t, view([...old, ...young, trim]))
})

test('property: every ended turn after the furthest summary is in the view exactly once, in the order of ends', () => {
  const steps = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.constantFrom('say', 'end', 'sum')))
  fc.assert(
    fc.property(steps, (steps) => {
      const make = entryMaker()
      const entries = steps.flatMap(([turn, what]): Entry[] => {
        if (what === 'say') return [make(turn, 'x', { type: 'note', text: turn })]
        if (what === 'end') return [make(turn, 'x', { type: 'end', outcome: { ok: true, text: '' } })]
        return []
      })
      const ends = endedTurns(entries)
      const through = ends[Math.floor(ends.length / 2)]?.end.id
      const summary = through ? [make('', 'termaite', { type: 'summary', text: 's', through })] : []
      const shown = view([...entries, ...summary])
      const rest = ends.slice(through ? Math.floor(ends.length / 2) + 1 : 0)
      assert.deepEqual(shown, [...summary, ...rest.flatMap((turn) => turn.entries)])
    }),
  )
})

test('an agent with a thread is told the turns that ended after the one it last answered', () => {
  const make = entryMaker()
  const thread = (turn: string, by: string, key: string) => make(turn, by, { type: 'thread', key })
  const first = [thread('1', 'claude', 'k1'), ...answeredTurn(make, '1', 'one', 'claude', '1')]
  const second = [thread('2', 'codex', 'k2'), ...answeredTurn(make, '2', 'two', 'codex', '2')]
  const failure = { kind: 'crash' as const, message: 'broke' }
  const third = [thread('3', 'claude', 'k3'), make('3', 'claude', { type: 'end', outcome: { ok: false, failure } })]
  const history = [...first, ...second, ...third]
  assert.deepEqual(missedEntries(history, 'claude'), { key: 'k1', turn: '1', entries: [...second, ...third] })
  assert.deepEqual(missedEntries(history, 'codex'), { key: 'k2', turn: '2', entries: third })
  assert.deepEqual(missedEntries(history, 'gemini'), { entries: history })
})

test('a turn that ended while the thread was answering another was missed as well', () => {
  const make = entryMaker()
  const mine = make('mine', 'user', { type: 'prompt', text: 'mine' })
  const other = answeredTurn(make, 'other', 'other', 'codex', 'other')
  const rest = [
    make('mine', 'claude', { type: 'thread', key: 'k' }),
    make('mine', 'claude', { type: 'reply', text: 'mine' }),
    make('mine', 'claude', { type: 'end', outcome: { ok: true, text: 'mine' } }),
  ]
  const history = view([mine, ...other, ...rest])
  assert.deepEqual(missedEntries(history, 'claude'), { key: 'k', turn: 'mine', entries: other })
})

test('entries of others in the same turn after an agent spoke there are new to its thread', () => {
  const make = entryMaker()
  const turn = [
    make('t', 'user', { type: 'prompt', text: 'both of you' }),
    make('t', 'claude', { type: 'thread', key: 'k' }),
    make('t', 'claude', { type: 'reply', text: 'the first half' }),
    make('t', 'termaite', { type: 'note', text: 'go on' }),
    make('t', 'codex', { type: 'thread', key: 'c' }),
    make('t', 'codex', { type: 'call', call: 'c1', tool: 'bash', input: {} }),
    make('t', 'codex', { type: 'result', call: 'c1', ok: true, text: 'ok' }),
    make('t', 'codex', { type: 'reply', text: 'the second half' }),
    make('t', 'rotation', { type: 'end', outcome: { ok: true, text: '' } }),
  ]
  const next = answeredTurn(make, 'next', 'more', 'gemini', 'more')
  const history = view([...turn, ...next])
  assert.deepEqual(missedEntries(history, 'claude'), { key: 'k', turn: 't', entries: [...turn.slice(5, 8), ...next] })
  assert.deepEqual(missedEntries(history, 'codex'), { key: 'c', turn: 't', entries: next })
})

test('a summary of steps stands in their place; guides, steering and the work of an earlier attempt stay', () => {
  const call = (id: string, step: number): Fact => ({ type: 'call', call: id, tool: 'ls', input: {}, step })
  const result = (id: string): Fact => ({ type: 'result', call: id, ok: true, text: id })
  const attempt: Fact = { type: 'attempt', failure: { kind: 'crash', message: 'broke' }, ms: 1 }
  const guide: Fact = { type: 'guide', name: 'skill:pdf', text: 'read the pages' }
  const steer: Fact = { type: 'steer', text: 'be quick' }
  const first: Fact = { type: 'summary', text: 'one', step: 1 }
  const second: Fact = { type: 'summary', text: 'one and two', step: 2 }
  const before = [call('a1', 1), result('a1'), attempt]
  const facts = [
    ...before,
    call('b1', 1),
    guide,
    result('b1'),
    first,
    { type: 'reply', text: 'I look.', step: 2 } satisfies Fact,
    call('b2', 2),
    result('b2'),
    steer,
    call('b3', 3),
    result('b3'),
    second,
    call('b4', 4),
    result('b4'),
  ]
  assert.deepEqual(withoutOldSteps(facts), [
    ...before,
    second,
    guide,
    steer,
    call('b3', 3),
    result('b3'),
    call('b4', 4),
    result('b4'),
  ])
})
