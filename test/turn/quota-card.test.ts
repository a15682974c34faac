import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Question } from '../../src/core/talk/question.ts'
import { localTimeFrom } from '../../src/base/time/local-time.ts'
import { settled } from '../hand-clock.ts'
import { failed } from '../../src/core/talk/outcome.ts'
import { conversed, person, pondering, told } from './cards.ts'
import { rig } from './rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const until = 5 * 3_600_000
const back = localTimeFrom(0, until)
const spent = [{ fail: { kind: 'quota' as const, message: 'limit', retryAt: until } }]
const two = { claude: [spent, [{ say: 'back' }]], gemini: [[{ say: 'G' }]] }

const handOver: Question = {
  about: 'quota',
  text: `claude is out of quota until ${back}.`,
  from: [],
  agent: 'claude',
  options: [
    { id: 'hand over', label: 'Hand over to gemini now', means: 'once' },
    { id: 'stop', label: 'Stop the turn', means: 'no' },
    { id: 'wait', label: `Wait for claude until ${back}, then continue automatically` },
  ],
  otherwise: { pick: 'hand over', at: 10_000 },
}

test('a spent quota is asked about when a person watches: "hand over" goes on with the named agent', async () => {
  const { turn } = rig(two)
  const { ask, asked } = person('hand over')
  const { facts, result } = await turn({ ask, attended: true })
  assert.deepEqual(asked, [handOver])
  assert.deepEqual([told(facts), result], [['claude failed: quota', 'gemini said G'], { ok: true, text: 'G' }])
})

test('wait ends the turn with the time of the reset, and nobody else is asked', async () => {
  const { turn, names } = rig(two)
  const { result } = await turn({ ask: person('wait').ask, attended: true })
  assert.deepEqual([result, names()], [failed('quota', 'waiting for claude', until), ['claude']])
})

test('stop ends the turn as if it was cancelled, and the agent stays parked', async (t) => {
  const { turn, names, health } = rig(two)
  const { result } = await turn({ ask: person('stop').ask, attended: true })
  golden(t, [result, names()])
  assert.deepEqual(await health.read(), { agents: { claude: { failures: 0, parked: { until, why: 'limit' } } } })
})

test('without an answer, without a person, or in a consultation, the turn is handed over', async () => {
  const silent = person(undefined)
  const { turn } = rig(two)
  assert.deepEqual(told((await turn({ ask: silent.ask, attended: true })).facts), [
    'claude failed: quota',
    'gemini said G',
  ])
  const unasked = person('stop')
  await rig(two).turn({ ask: unasked.ask })
  await rig(two).turn({ ask: unasked.ask, attended: true }, { consulted: true })
  assert.deepEqual([silent.asked.length, unasked.asked], [1, []])
})

test('a turn that is cancelled at the card is cancelled, and no next agent is asked', async () => {
  const abort = new AbortController()
  const { turn, names } = rig(two)
  const { result } = await turn({ ask: pondering(abort), attended: true, signal: abort.signal })
  assert.deepEqual([result, names()], [failed('aborted', 'cancelled'), ['claude']])
})

test('an agent that is parked already is no handover; without a stated time the note says so', async () => {
  const unstated = [{ fail: { kind: 'quota' as const, message: 'limit' } }]
  const { turn, health } = rig({ claude: [unstated], gemini: [spent], codex: [[{ say: 'C' }]] })
  await health.update(() => ({ agents: { gemini: { failures: 0, parked: { until, why: 'limit' } } } }))
  const { ask, asked } = person()
  await turn({ ask, attended: true })
  const hour = localTimeFrom(0, 3_600_000)
  assert.deepEqual(
    asked.map(({ text, options }) => [text, options[0]!.label]),
    [
      [
        `claude is out of quota and does not say until when; termaite tries it again after ${hour}.`,
        'Hand over to codex now',
      ],
    ],
  )
})

test('when no other agent is free, the card offers to wait for the first one back or to stop, and does nothing by itself', async (t) => {
  const later = [{ fail: { kind: 'quota' as const, message: 'limit', retryAt: 2 * until } }]
  const question: Question = {
    about: 'quota',
    text: `No agent is free. claude is the first one back, at ${back}.`,
    from: [],
    agent: 'claude',
    options: [
      { id: 'wait', label: `Wait for claude until ${back}, then continue automatically`, means: 'once' },
      { id: 'stop', label: 'Stop the turn', means: 'no' },
    ],
  }
  const outcomes = []
  for (const pick of ['wait', 'stop', undefined]) {
    const { turn } = rig({ claude: [spent], gemini: [later] })
    const { ask, asked } = person('hand over', pick)
    outcomes.push((await turn({ ask, attended: true })).result)
    assert.deepEqual(asked.slice(1), [question])
  }
  golden(t, outcomes)
})

test('all parked before the turn began: asked the same; one that crashed cannot be waited for', async () => {
  const { turn, health, names } = rig(two)
  const parked = { failures: 0, parked: { until, why: 'limit' } }
  await health.update(() => ({
    agents: { claude: parked, gemini: { failures: 0, busy: { until: 9_000, why: '529' } } },
  }))
  const { result } = await turn({ ask: person('wait').ask, attended: true })
  assert.deepEqual([result, names()], [failed('busy', 'waiting for gemini', 9_000), []])
  const broken = rig({ claude: [spent], gemini: [[{ fail: { kind: 'crash', message: 'died' } }]] })
  const { ask, asked } = person('hand over', 'wait')
  const died = await broken.turn({ ask, attended: true })
  assert.deepEqual(
    [died.result, asked.length],
    [failed('crash', 'no agent could answer: claude is out of quota: limit; gemini failed: died'), 1],
  )
})

test('ten seconds later it is handed over by itself, and the card is taken back', async () => {
  const { clock, done, events, withdrawn, answers } = conversed(rig(two))
  await settled()
  assert.equal(events.at(-1)?.type, 'question')
  await clock.turn(9_999)
  assert.deepEqual(answers(), [])
  await clock.turn(1)
  await done
  assert.deepEqual([answers(), withdrawn], [[['termaite', ['hand over']]], [true]])
  assert.deepEqual((events.at(-1) as { outcome: unknown }).outcome, { ok: true, text: 'G' })
})
