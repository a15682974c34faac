import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Event } from '../../../src/core/talk/entry.ts'
import type { Failure } from '../../../src/core/talk/outcome.ts'
import type { Turn } from '../../../src/core/work/agent.ts'
import type { ModelEvent } from '../../../src/core/work/model.ts'
import type { ModelScript } from '../../models/scripted-model.ts'
import { HandClock } from '../../hand-clock.ts'
import { nativeAgent } from '../../../src/native/loop/native-loop.ts'
import { frameOf } from '../../../src/native/loop/model-messages.ts'
import { leashPolicy } from '../../leash-policy.ts'
import { scriptedModel } from '../../models/scripted-model.ts'
import { eventsOf, turnOf } from '../../contract/agent.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const passing = (failure: Failure): ModelEvent => ({ type: 'failure', failure, passing: true })
const busy = passing({ kind: 'busy', message: 'Anthropic is overloaded (529): Overloaded' })
const broken = passing({ kind: 'crash', message: 'Anthropic failed: the answer was cut off in the middle' })

/** A turn of the native agent on a clock that stands at 0, whose pauses have no chance in them. */
function begin(scripts: ModelScript[], over: Partial<Turn> = {}, seconds = 600) {
  const clock = new HandClock(0)
  const model = scriptedModel(scripts)
  const waits: [string, number | undefined][] = []
  const agent = nativeAgent({
    name: 'native',
    model,
    tools: [],
    policy: leashPolicy,
    frame: frameOf('Be brief.', []),
    patience: { seconds, random: () => 1 },
  })
  const turn = turnOf({
    clock,
    waits: (words, until) => void (until !== undefined && waits.push([words, until])),
    ...over,
  })
  return { clock, model, waits, events: eventsOf(agent, turn) }
}

const outcomeOf = (events: Event[]) => {
  const last = events.at(-1)!
  return last.type === 'end' ? last.outcome : undefined
}

test('while nobody else can take the turn, a busy provider is asked again, with longer and longer pauses that are told', async () => {
  const { clock, model, waits, events } = begin([[busy], [busy], [busy], [{ say: 'Hello.' }]])
  for (const [pause, asked] of [
    [999, 1],
    [1, 2],
    [2000, 3],
    [4000, 4],
  ] as const) {
    await clock.turn(pause)
    assert.equal(model.requests.length, asked)
  }
  assert.deepEqual(outcomeOf(await events), { ok: true, text: 'Hello.' })
  const words = 'Anthropic is overloaded (529): Overloaded'
  assert.deepEqual(waits, [
    [words, 1000],
    [words, 3000],
    [words, 7000],
  ])
})

test('a time that the provider states is kept to, and never cut short', async () => {
  const stated = passing({ kind: 'busy', message: 'busy', retryAt: 42_000 })
  const { clock, model, waits, events } = begin([[stated], [{ say: 'Hello.' }]])
  await clock.turn(42_000)
  assert.equal(model.requests.length, 1)
  await clock.turn(250)
  assert.deepEqual(outcomeOf(await events), { ok: true, text: 'Hello.' })
  assert.deepEqual(waits, [['busy', 42_250]])
})

test('the waits of one answer are bounded, and the failure lists the tries', async (t) => {
  const { clock, model, events } = begin([[busy]], {}, 100)
  await clock.turn(100_000)
  golden(t, outcomeOf(await events))
  assert.equal(model.requests.length, 7)
  const late = passing({ kind: 'busy', message: 'busy', retryAt: 700_000 })
  const once = begin([[late]])
  assert.deepEqual(outcomeOf(await once.events), {
    ok: false,
    failure: { kind: 'busy', message: 'busy', retryAt: 700_000 },
  })
})

test('while another agent is free, a busy provider is left at once, and a broken connection is tried twice more', async () => {
  const left = begin([[busy]], { othersFree: () => true })
  assert.deepEqual(outcomeOf(await left.events), { ok: false, failure: (busy as { failure: Failure }).failure })
  assert.equal(left.model.requests.length, 1)
  const tried = begin([[broken]], { othersFree: () => true })
  await tried.clock.turn(3000)
  await tried.events
  assert.equal(tried.model.requests.length, 3)
  // An agent that comes back meanwhile takes the turn.
  let free = false
  const later = begin([[busy]], { othersFree: () => free })
  await later.clock.turn(1000)
  free = true
  await later.clock.turn(2000)
  assert.equal((await later.events).at(-1)?.type, 'end')
  assert.equal(later.model.requests.length, 3)
})

test('a cancel ends the pause at once', async () => {
  const abort = new AbortController()
  const { clock, model, events } = begin([[busy]], { signal: abort.signal })
  await clock.turn(100)
  abort.abort()
  assert.deepEqual(outcomeOf(await events), { ok: false, failure: { kind: 'aborted', message: 'cancelled' } })
  assert.equal(model.requests.length, 1)
  assert.equal(clock.asleep, 0)
})

test('a failure that does not pass is not tried again', async () => {
  const failure: Failure = { kind: 'auth', message: 'no key' }
  const { model, events } = begin([[{ type: 'failure', failure }]])
  assert.deepEqual(outcomeOf(await events), { ok: false, failure })
  assert.equal(model.requests.length, 1)
})

test('an answer that was cut goes on from its words, is kept once, and its pauses begin anew', async () => {
  const { clock, model, events } = begin([
    [{ say: 'I will lo' }, { type: 'call', id: 'lost', tool: 'bash', input: {} }, broken],
    [busy],
    [{ say: 'ok at' }, broken],
    [{ say: ' it.' }, { type: 'end', stop: 'done', opaque: 'record' }],
  ])
  await clock.turn(1000)
  await clock.turn(2000)
  await clock.turn(1000)
  const told = await events
  assert.deepEqual(
    told.filter(({ type }) => type !== 'thought'),
    [
      { type: 'text', delta: 'I will lo' },
      { type: 'text', delta: 'ok at' },
      { type: 'text', delta: ' it.' },
      { type: 'reply', text: 'I will look at it.', step: 1, opaque: 'record' },
      { type: 'end', outcome: { ok: true, text: 'I will look at it.' } },
    ],
  )
  assert.deepEqual(
    model.requests.map(({ begun }) => begun),
    [undefined, ['I will lo'], ['I will lo'], ['I will lo', 'ok at']],
  )
})

test('an answer that was cut before its first word is asked for again', async () => {
  const { clock, model, events } = begin([
    [{ type: 'thought', delta: 'Hm.' }, { say: '\n' }, broken],
    [{ say: 'Yes.' }],
  ])
  await clock.turn(1000)
  assert.deepEqual(outcomeOf(await events), { ok: true, text: 'Yes.' })
  assert.deepEqual(
    model.requests.map(({ begun }) => begun),
    [undefined, undefined],
  )
})
