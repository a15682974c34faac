import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Event } from '../../../src/core/talk/entry.ts'
import { modelMessages } from '../../../src/native/loop/model-messages.ts'
import { turnOf } from '../../contract/agent.ts'
import { sized } from '../../full.ts'
import {
  asksForSummary,
  bytesOf,
  longPrompt,
  longTurn,
  prefixShares,
  rightAnswer,
  typedMeanwhile,
} from './long-turn.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const pages = sized(130, 500)
const window = sized(12_000, 32_000)

const summaries = (events: readonly Event[]) => events.flatMap((event) => (event.type === 'summary' ? [event] : []))

test('a turn of many rounds in a small window ends with the right answer, and only a summary starts a new prefix', async () => {
  const { outcome, requests, events, view } = await longTurn(pages, window)
  assert.deepEqual(outcome, { ok: true, text: rightAnswer(pages) })
  const made = summaries(events)
  assert.ok(made.length >= 2, `the window was filled ${made.length} times`)
  assert.equal(events.filter(({ type }) => type === 'trim').length, 0, 'nothing was left out otherwise')
  const largest = Math.max(...requests.map((request) => bytesOf(request).length / 4))
  assert.ok(largest <= window, `no request is larger than the window: ${largest}`)
  const broken = prefixShares(requests).filter((share) => share < 1)
  assert.equal(broken.length, made.length, 'each request begins with the bytes of the one before, but after a summary')
  for (const [at, request] of requests.entries()) {
    if (!asksForSummary(request)) continue
    const repeated = bytesOf({ ...request, messages: request.messages.slice(0, -1) })
    assert.ok(bytesOf(requests[at - 1]!).startsWith(repeated), 'a request for a summary repeats what was sent')
  }
  const last = requests.at(-1)!.messages
  assert.deepEqual(last.slice(0, 1), [{ role: 'user', text: longPrompt }])
  assert.deepEqual(
    last.filter((message) => message.role === 'user' && message.text === typedMeanwhile).length,
    1,
    'what was typed meanwhile stays word for word',
  )
  const calls = last.flatMap((message) => (message.role === 'assistant' ? message.calls.map(({ id }) => id) : []))
  const results = last.flatMap((message) => (message.role === 'tool' ? [message.call] : []))
  assert.deepEqual(calls, results, 'a step is never split')
  for (const { step, tokens } of made)
    assert.ok(step! > 0 && tokens!.after < tokens!.before * 0.8, JSON.stringify(tokens))
  const resumed = modelMessages('native', turnOf({ prompt: 'and now?', history: view }), [])
  assert.ok(
    JSON.stringify(resumed).startsWith(JSON.stringify(last).slice(0, -1)),
    'a later process is given the same bytes',
  )
  const usage = events.filter((event) => event.type === 'usage').length
  assert.equal(usage, requests.length, 'the requests for summaries are counted too')
})

test('a summary that fails leaves out long inputs and outputs instead, and the turn goes on to its end', async (t) => {
  const failure = { kind: 'busy' as const, message: 'overloaded' }
  const { outcome, requests, events } = await longTurn(40, 12_000, {
    answer: (request) => (asksForSummary(request) ? [{ type: 'failure', failure }] : undefined),
  })
  assert.equal(summaries(events).length, 0)
  assert.equal(events.filter(({ type }) => type === 'trim').length >= 1, true)
  const notes = events.flatMap((event) => (event.type === 'note' ? [event.text] : []))
  golden(t, notes.slice(0, 2))
  assert.ok(Math.max(...requests.map((request) => bytesOf(request).length / 4)) <= 12_000)
  // The codes of the pages that were left out are lost to this model, but the turn is not.
  assert.equal(outcome.ok, true)
})

test('a model that writes no summary, or a longer one, changes nothing else', async () => {
  for (const say of ['', 'x'.repeat(60_000)]) {
    const { outcome, events } = await longTurn(20, 12_000, {
      answer: (request) => (asksForSummary(request) ? [{ say }] : undefined),
    })
    assert.equal(summaries(events).length, 0)
    assert.equal(outcome.ok, true)
  }
})

test('a provider that counts more tokens than we estimate refuses a request, and the turn goes on with a summary', async () => {
  let refused = 0
  const most = 6_000
  const { outcome, events } = await longTurn(62, 12_000, {
    answer(request) {
      if (bytesOf(request).length / 4 <= most) return undefined
      refused++
      return [{ type: 'failure', failure: { kind: 'overflow', message: 'too long' } }]
    },
  })
  assert.deepEqual(outcome, { ok: true, text: rightAnswer(62) })
  assert.ok(refused > 0 && summaries(events).length > 0)
})

test('a window that is truly a tenth of the configured one is compacted, the turn goes on, and the person is told', async (t) => {
  const most = 6_000
  const { outcome, requests, events } = await longTurn(62, 60_000, {
    answer: (request) =>
      bytesOf(request).length / 4 <= most
        ? undefined
        : [{ type: 'failure', failure: { kind: 'overflow', message: 'too long' } }],
  })
  assert.deepEqual(outcome, { ok: true, text: rightAnswer(62) })
  assert.equal(events.filter(({ type }) => type === 'trim').length, 0, 'nothing was left out otherwise')
  assert.equal(
    requests.filter((request) => bytesOf(request).length / 4 > most).length,
    1,
    'only one request was refused',
  )
  golden(
    t,
    events.flatMap((event) => (event.type === 'note' ? [event.text] : [])),
  )
})

test('a turn that is several times larger than the true window is summarised in steps', async () => {
  const most = 3_000
  let refused = 0
  const { outcome } = await longTurn(62, 100_000, {
    answer(request) {
      if (bytesOf(request).length / 4 <= most * (refused === 0 ? 4 : 1)) return undefined
      refused++
      return [{ type: 'failure', failure: { kind: 'overflow', message: 'too long' } }]
    },
  })
  assert.deepEqual([outcome.ok, refused > 1], [true, true])
})

test('a window that cannot be made to fit ends the turn unfinished, and says when the provider is back', async () => {
  const failure = { kind: 'quota' as const, message: 'the quota is spent', retryAt: 60_000 }
  const { outcome } = await longTurn(20, 500, {
    answer: (request) => (asksForSummary(request) ? [{ type: 'failure', failure }] : undefined),
  })
  assert.deepEqual(outcome.ok ? outcome : { ...outcome.failure, message: '' }, {
    kind: 'unfinished',
    message: '',
    retryAt: 60_000,
    stoppedBy: 'window',
  })
})
