import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../cases.ts'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Event } from '../../src/core/talk/entry.ts'
import type { Agent, Turn } from '../../src/core/work/agent.ts'
import { scriptedAgent } from '../agents/scripted-agent.ts'
import { HandClock, settled } from '../hand-clock.ts'
import { failed, unfinished } from '../../src/core/talk/outcome.ts'
import type { Budget, Reservation } from '../../src/core/work/budget.ts'
import { budget } from '../../src/core/work/budget.ts'
import { InnerWorks } from '../../src/core/work/inner-work.ts'
import { drain } from '../../src/base/relay.ts'
import { consult, graceMs, take } from '../../src/core/work/verbs.ts'
import { turnOf } from '../contract/agent.ts'
import { drained } from './made.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

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

test('no turn starts once aborted, or beyond the budget', async (t) => {
  const agent = scriptedAgent('a', [[{ say: 'hi' }]])
  const aborted = await drained(take(agent, turnOf({ signal: AbortSignal.abort() })))
  assert.deepEqual(aborted, { events: [], result: failed('aborted', 'cancelled before it started') })
  const poor = await drained(take(agent, turnOf({ prompt: 'x'.repeat(41), budget: budget({ tokens: 10 }) })))
  golden(t, poor)
  assert.equal(agent.turns.length, 0)
})

test('an agent that throws, at once or later, or stops without an end has crashed', async (t) => {
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
  golden(t, await Promise.all(outcomes))
})

test('an aborted agent says its own end; one that does not is left after the grace', async (t) => {
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
  golden(t, await stubborn)
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

test('a consulted agent is held to reading, asks by its role, is not steered, and its seat is closed', async () => {
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

test('a budget counts tokens and cost, and says what is left', (t) => {
  const purse = budget({ tokens: 100, cost: 0.5 })
  assert.equal(purse.refuse(100), undefined)
  purse.spend({ input: 30, output: 20, source: 'reported', cost: 0.5 })
  golden(t, purse.refuse(51))
  assert.deepEqual(purse.refuse(50), unfinished('cost', '$0.50 of $0.50 are spent; raise --max-cost to continue'))
})

const left = (reserved: Reservation) => (reserved.failure ? reserved.failure.message : 'reserved')

test('calls side by side set their tokens aside, so that no limit is passed by all of them', (t) => {
  const purse = budget({ tokens: 100 })
  const [first, second, third] = [purse.reserve(60), purse.reserve(30), purse.reserve(20)]
  golden(t, [first, second, third].map(left))
  assert(!first.failure && !second.failure)
  // The call spent less than was set aside for it, and gives the rest back.
  first.budget.spend({ input: 15, output: 5, source: 'reported' })
  first.release()
  assert.equal(left(purse.reserve(50)), 'reserved')
  assert.equal(purse.refuse(1)?.stoppedBy, 'tokens')
})

test('a call inside a call uses the tokens that were set aside for the outer one', () => {
  const purse = budget({ tokens: 100 })
  const outer = purse.reserve(80)
  assert(!outer.failure)
  const inner = outer.budget.reserve(90)
  assert(!inner.failure)
  assert.deepEqual([purse.refuse(10), purse.refuse(11)?.stoppedBy], [undefined, 'tokens'])
  // Two calls inside the same one share its tokens.
  assert.equal(outer.budget.refuse(11)?.stoppedBy, 'tokens')
  outer.budget.spend({ input: 90, output: 0, source: 'reported' })
  assert.deepEqual([purse.refuse(10), purse.refuse(11)?.stoppedBy], [undefined, 'tokens'])
  inner.release()
  outer.release()
  assert.deepEqual([purse.refuse(10), purse.refuse(11)?.stoppedBy], [undefined, 'tokens'])
})

test('tokens that are set aside count for the cost too, at the price that was paid so far', (t) => {
  const purse = budget({ cost: 1 })
  purse.spend({ input: 100, output: 0, source: 'reported', cost: 0.4 })
  const held = purse.reserve(150)
  golden(t, purse.refuse(1))
  assert(!held.failure)
  assert.equal(held.budget.refuse(1), undefined)
  held.release()
  assert.equal(purse.refuse(1), undefined)
})

test('however calls are reserved, spent and released, no more than the limit is ever spent or set aside', () => {
  const move = fc.oneof(
    fc.record({ kind: fc.constant('reserve' as const), at: fc.nat(9), tokens: fc.integer({ min: 1, max: 60 }) }),
    fc.record({
      kind: fc.constant('spend' as const),
      at: fc.nat(9),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
    fc.record({ kind: fc.constant('release' as const), at: fc.nat(9) }),
  )
  fc.assert(
    fc.property(fc.array(move, { maxLength: 60 }), (moves) => {
      const purse = budget({ tokens: 100 })
      const open: { budget: Budget; release(): void; left: number }[] = []
      let spent = 0
      for (const one of moves) {
        const chosen = open[one.at % Math.max(1, open.length)]
        if (one.kind === 'reserve') {
          const made = purse.reserve(one.tokens)
          const held = open.reduce((sum, { left }) => sum + left, 0)
          assert.equal(made.failure === undefined, spent + held + one.tokens <= 100)
          if (!made.failure) open.push({ ...made, left: one.tokens })
        } else if (chosen && one.kind === 'spend') {
          const tokens = Math.floor(chosen.left * one.share)
          chosen.budget.spend({ input: tokens, output: 0, source: 'reported' })
          spent += tokens
          chosen.left -= tokens
        } else if (chosen) {
          chosen.release()
          open.splice(open.indexOf(chosen), 1)
        }
      }
    }),
  )
})

test('the calls of another program are its steps, and one too many ends its turn unfinished', async (t) => {
  const call = (id: string): Event => ({ type: 'call', call: id, tool: 'Bash', input: {} })
  const agent = scriptedAgent('cli', [[call('1'), call('2'), call('3'), { say: 'done' }]])
  const purse = budget({ steps: 2 })
  const { events, result } = await drained(take(wrapped(agent), turnOf({ budget: purse.turn!() })))
  assert.deepEqual(
    events.flatMap((event) => (event.type === 'call' ? [event.call] : [])),
    ['1', '2'],
  )
  golden(t, result)
})

test('an agent that is consulted can be stopped by its role, and two of one role are told apart', async (t) => {
  const inside = new InnerWorks()
  const clock = new HandClock()
  const ask = (agent: Agent) => drained(consult(agent, 'subagent', turnOf({ clock, inside })))
  const one = ask(scriptedAgent('a', [[{ hang: true }]]))
  const two = ask(scriptedAgent('b', [[{ wait: 1_000 }, { say: 'done' }]]))
  await settled()
  assert.deepEqual(inside.roles, ['subagent', 'subagent 2'])
  await inside.get('subagent')!.stop()
  await clock.turn(2_000)
  golden(t, (await one).result)
  const { events, result } = await two
  assert.deepEqual(result, { ok: true, text: 'done' })
  assert.deepEqual(new Set(events.map((event) => event.role)), new Set(['subagent 2']))
  assert.deepEqual(inside.roles, [])
})
