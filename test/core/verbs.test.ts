import { test } from 'node:test'
import assert from 'node:assert/strict'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Event } from '../../src/core/talk/entry.ts'
import type { Agent, Turn } from '../../src/core/work/agent.ts'
import { scriptedAgent } from '../../src/agents/scripted-agent.ts'
import { HandClock, settled } from '../../src/base/hand-clock.ts'
import { failed, unfinished } from '../../src/core/talk/outcome.ts'
import { budget } from '../../src/core/work/budget.ts'
import { drain } from '../../src/base/relay.ts'
import { consult, graceMs, take } from '../../src/core/work/verbs.ts'
import { turnOf } from '../contract/agent.ts'
import { drained } from './made.ts'

const traits = { window: 1_000, memory: 'none' as const, talks: true, steers: false }

/** An agent that keeps to nothing. */
const wild = (turn: (turn: Turn) => AsyncIterable<Event>): Agent => ({ name: 'wild', traits, turn, async close() {} })

/** One that takes another's turn as its own, as rotation and supervision do. */
const wrapped = (inner: Agent): Agent => ({
  ...wild(async function* (turn) {
    yield { type: 'end', outcome: yield* take(inner, turn) }
  }),
  name: 'outer',
})

test('events flow through, signed by the one who really spoke; the end comes back', async () => {
  const leaf = scriptedAgent('leaf', [[{ say: 'hi' }]])
  const { events, result } = await drained(take(wrapped(leaf), turnOf()))
  assert.deepEqual(
    events.map((event) => [event.type, event.by]),
    [
      ['text', 'leaf'],
      ['reply', 'leaf'],
      ['usage', 'leaf'],
    ],
  )
  assert.deepEqual(result, { ok: true, text: 'hi' })
})

test('usage is paid once, however deep it comes from', async () => {
  const usage: Event = { type: 'usage', input: 60, output: 0, source: 'reported' }
  const leaf = scriptedAgent('leaf', [[usage, { type: 'end', outcome: { ok: true, text: '' } }]])
  const purse = budget({ tokens: 100 })
  await drained(take(wrapped(wrapped(leaf)), turnOf({ prompt: '', budget: purse })))
  assert.equal(purse.refuse(40), undefined)
  assert.equal(purse.refuse(41)?.stoppedBy, 'tokens')
})

test('nothing starts once aborted, or beyond the budget', async () => {
  const agent = scriptedAgent('a', [[{ say: 'hi' }]])
  const aborted = await drained(take(agent, turnOf({ signal: AbortSignal.abort() })))
  assert.deepEqual(aborted, { events: [], result: failed('aborted', 'cancelled before it started') })
  const poor = await drained(take(agent, turnOf({ prompt: 'x'.repeat(41), budget: budget({ tokens: 10 }) })))
  const why = 'the next call needs about 11 tokens, but only 10 of 10 are left; raise --max-tokens to continue'
  assert.deepEqual(poor, { events: [], result: { ok: false, failure: unfinished('tokens', why) } })
  assert.equal(agent.turns.length, 0)
})

test('an agent that throws, at once or later, or stops without an end has crashed', async () => {
  const outcomes = [
    wild(() => {
      throw new Error('at once')
    }),
    wild(async function* () {
      yield { type: 'text', delta: 'half' }
      throw new Error('later')
    }),
    wild(async function* () {}),
    wild(() => ({ [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: undefined }) }) })),
  ].map((agent) => drain(take(agent, turnOf())))
  assert.deepEqual(await Promise.all(outcomes), [
    failed('crash', 'wild failed unexpectedly: at once'),
    failed('crash', 'wild failed unexpectedly: later'),
    failed('crash', 'wild stopped without saying how its turn ended'),
    failed('crash', 'wild stopped without saying how its turn ended'),
  ])
})

test('an aborted agent says its own end; one that does not is left after the grace', async () => {
  const abort = new AbortController()
  const polite = drain(take(scriptedAgent('a', [[{ hang: true }]]), turnOf({ signal: abort.signal })))
  const clock = new HandClock()
  const deaf = wild(async function* () {
    await new Promise(() => {})
  })
  const stubborn = drain(take(deaf, turnOf({ signal: abort.signal, clock })))
  abort.abort()
  assert.deepEqual(await polite, failed('aborted', 'a was cancelled'))
  await clock.turn(graceMs - 1)
  assert.equal(clock.asleep, 1)
  await clock.turn(1)
  assert.deepEqual(await stubborn, failed('aborted', 'wild did not stop when it was told to'))
  assert.equal(clock.asleep, 0)
})

test('leaving early aborts the leaf and waits for its clean-up', async () => {
  const leaf = scriptedAgent('leaf', [[{ type: 'text', delta: 'x' }, { hang: true }]])
  const events = take(wrapped(leaf), turnOf())
  await events.next()
  assert.equal(leaf.running, true)
  await events.return(failed('aborted', 'left'))
  assert.equal(leaf.running, false)
  assert.equal(leaf.turns[0]!.signal.aborted, true)
})

test('events that went by are not held in memory while the turn runs', async () => {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  const seen: WeakRef<Event>[] = []
  const talks = wild(async function* () {
    for (let i = 0; i < 100; i++) {
      const event: Event = { type: 'text', delta: `${i}` }
      seen.push(new WeakRef(event))
      yield event
    }
  })
  const events = take(talks, turnOf())
  for (let i = 0; i < 100; i++) await events.next()
  await settled()
  gc()
  assert.ok(seen.filter((event) => event.deref()).length < 5)
  await drained(events)
})

test('one that is consulted is held to reading, asks by its role, is not steered, and its seat is closed', async () => {
  const question = { about: 'choice' as const, text: 'which?', from: ['inner'], options: [] }
  const agent = scriptedAgent('a', [[{ ask: question }, { say: 'this' }]])
  const asked: string[][] = []
  const turn = turnOf({
    leash: 'all',
    ask: async ({ from }) => void asked.push(from),
    steer: async () => ['typed meanwhile'],
  })
  const { events, result } = await drained(consult(agent, 'critic', turn))
  assert.deepEqual(result, { ok: true, text: 'this' })
  assert.deepEqual(
    events.map(({ type, role, event }) => [type, role, event.type, event.by]),
    ['text', 'reply', 'usage', 'end'].map((type) => ['inner', 'critic', type, 'a']),
  )
  assert.deepEqual(asked, [['critic', 'inner']])
  assert.equal(agent.turns[0]!.leash, 'read')
  assert.deepEqual(await agent.turns[0]!.steer(), [])
  assert.equal(agent.closed, true)
})

test('leaving a consultation ends and closes the agent', async () => {
  const agent = scriptedAgent('a', [[{ type: 'text', delta: 'x' }, { hang: true }]])
  const events = consult(agent, 'critic', turnOf(), 'edit')
  await events.next()
  assert.equal(agent.turns[0]!.leash, 'edit')
  await events.return(failed('aborted', 'left'))
  await settled()
  assert.deepEqual([agent.running, agent.closed], [false, true])
})

test('a budget counts tokens and cost, and says what is left', () => {
  const purse = budget({ tokens: 100, cost: 0.5 })
  assert.equal(purse.refuse(100), undefined)
  purse.spend({ input: 30, output: 20, source: 'reported', cost: 0.5 })
  assert.deepEqual(purse.refuse(51), {
    kind: 'unfinished',
    message:
      'stopped before the work was done: the next call needs about 51 tokens, but only 50 of 100 are left; raise --max-tokens to continue',
    stoppedBy: 'tokens',
  })
  assert.deepEqual(purse.refuse(50), unfinished('cost', '$0.50 of $0.50 are spent; raise --max-cost to continue'))
})

test('the calls of another program are its steps, and one too many ends its turn unfinished', async () => {
  const call = (id: string): Event => ({ type: 'call', call: id, tool: 'Bash', input: {} })
  const agent = scriptedAgent('cli', [[call('1'), call('2'), call('3'), { say: 'done' }]])
  const purse = budget({ steps: 2 })
  const { events, result } = await drained(take(wrapped(agent), turnOf({ budget: purse.turn!() })))
  assert.deepEqual(
    events.flatMap((event) => (event.type === 'call' ? [event.call] : [])),
    ['1', '2'],
  )
  assert.deepEqual(result, {
    ok: false,
    failure: unfinished('steps', 'its 2 allowed steps are made; raise --max-steps to allow more'),
  })
})
