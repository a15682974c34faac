import type { Event } from '../../src/core/talk/entry.ts'
import type { Outcome } from '../../src/core/talk/outcome.ts'
import type { Format } from '../../src/cli/output/print.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { HandClock } from '../hand-clock.ts'
import { failed, unfinished } from '../../src/core/talk/outcome.ts'
import { printTurn } from '../../src/cli/output/print.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const loss = failed('crash', 'the turn ran, but it could not be saved: disk full')

/** The output of a turn in which `a` said something and which ended in this outcome. */
function printed(said: string, outcome: Outcome, format: Format = 'text') {
  return printedOf([{ type: 'reply', text: said, by: 'a' }], outcome, format)
}

async function printedOf(before: Event[], outcome: Outcome, format: Format = 'text') {
  const events: Event[] = [...before, { type: 'end', outcome, by: 'a' }]
  const streams = { out: '', err: '' }
  const into = (name: keyof typeof streams) =>
    new Writable({
      decodeStrings: false,
      write(chunk: string, _encoding, done) {
        streams[name] += chunk
        done()
      },
    })
  const code = await printTurn(
    (async function* () {
      yield* events
    })(),
    {
      format,
      out: into('out'),
      err: into('err'),
      blobs: memoryStore().blobs('output'),
      clock: new HandClock(),
      session: 's',
      project: '/p',
    },
  )
  return { code, ...streams }
}

test('half an answer of an agent that failed is never printed', async () => {
  const err = 'termaite: a died\n'
  assert.deepEqual(await printed('half', failed('crash', 'a died')), { code: 1, out: '', err })
  const { text } = JSON.parse((await printed('half', failed('crash', 'a died'), 'json')).out) as { text: string }
  assert.equal(text, '')
})

test('a report that termaite adds to an answer does not take the answer from its agent', async () => {
  const added: Event = { type: 'reply', text: 'Workers: one.', by: 'termaite' }
  const answer: Event = { type: 'reply', text: 'Done.', by: 'a' }
  const signed = async (...events: Event[]) => (await printedOf(events, { ok: true, text: 'Done.' })).err
  assert.deepEqual([await signed(answer, added), await signed(added)], ['— a · 0.0 s\n', '— termaite · 0.0 s\n'])
})

test('a good answer that could not be kept is printed all the same', async () => {
  const outcome: Outcome = { ...loss, unkept: { text: 'whole' } }
  const err = `termaite: ${loss.failure.message}\n`
  assert.deepEqual(await printed('whole', outcome), { code: 1, out: 'whole\n', err })
  const { ok, text } = JSON.parse((await printed('whole', outcome, 'json')).out) as { ok: boolean; text: string }
  assert.deepEqual({ ok, text }, { ok: false, text: 'whole' })
})

test('an empty answer prints nothing', async () => {
  assert.equal((await printed('', { ok: true, text: ' \n' })).out, '')
})

test('a wait before another try is reported on stderr and in stream-json; other waits are not', async () => {
  const until = new HandClock().now() + 42_000
  const words = 'Anthropic is overloaded (529): Overloaded.'
  const waits: Event[] = [
    { type: 'waiting', words: 'starting a', by: 'termaite' },
    { type: 'waiting', words, until, by: 'termaite' },
  ]
  const good: Outcome = { ok: true, text: 'done' }
  const told = 'Anthropic is overloaded (529): Overloaded. Trying again in 42 s.'
  for (const format of ['text', 'json'] as const)
    assert.equal((await printedOf(waits, good, format)).err.split('\n')[0], told)
  const { out } = await printedOf(waits, good, 'stream-json')
  const lines = out.split('\n').filter((line) => line.includes('"waiting"'))
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)),
    [{ type: 'waiting', words, until, by: 'termaite', at: new HandClock().now() }],
  )
})

/** A turn that was thought through, by the one who acted. */
const thought: Event[] = [
  { type: 'note', text: 'thinking: consensus, more than one way', by: 'termaite' },
  { type: 'phase', framework: 'consensus', words: '3 of 5 advisors', by: 'termaite' },
  { type: 'inner', role: 'enumerator', event: { type: 'reply', text: 'pandoc', by: 'b' } },
  { type: 'reply', text: 'done', by: 'a' },
]
const verdict: Event = { type: 'verdict', framework: 'consensus', why: 'w', passed: true, calls: 6, ms: 5, by: 'a' }

test('the framework is printed beside the answer, and its phases in stream-json alone', async () => {
  const answer: Outcome = { ok: true, text: 'done' }
  const err = 'thinking: consensus, more than one way\n— a · 0.0 s · consensus · 6 calls\n'
  assert.deepEqual(await printedOf([...thought, verdict], answer), { code: 0, out: 'done\n', err })
  assert.deepEqual(
    JSON.parse((await printedOf([...thought, verdict], answer, 'json')).out),
    JSON.parse((await printed('done', answer, 'json')).out),
  )
  const streamed = (await printedOf([...thought, verdict], answer, 'stream-json')).out.trim().split('\n')
  assert.deepEqual(
    streamed.map((line) => (JSON.parse(line) as Event).type),
    ['note', 'phase', 'inner', 'reply', 'verdict', 'end'],
  )
  const direct = { ...verdict, framework: 'direct', calls: 0 } as Event
  assert.equal((await printedOf([...thought.slice(3), direct], answer)).err, '— a · 0.0 s\n')
})

test('the report of an unmet goal goes to stderr, and is no answer', async () => {
  const report: Event = { type: 'reply', text: 'This was not reached: a pdf\n- pandoc: no', by: 'termaite' }
  const unmet = failed('unmet', 'not reached after 1 way of trying')
  const events = [...thought.slice(3), report, verdict]
  assert.deepEqual(await printedOf(events, unmet), {
    code: 1,
    out: '',
    err: 'This was not reached: a pdf\n- pandoc: no\ntermaite: not reached after 1 way of trying\n',
  })
  const { ok, agent, text } = JSON.parse((await printedOf(events, unmet, 'json')).out) as Record<string, unknown>
  assert.deepEqual({ ok, agent, text }, { ok: false, agent: 'a', text: 'This was not reached: a pdf\n- pandoc: no' })
})

test('an unfinished turn is no success: its last words go to stderr, and 75 says that waiting helps', async (t) => {
  const summary: Event = { type: 'summary', text: 's', step: 41, tokens: { before: 24_176, after: 1_022 }, by: 'a' }
  const reply: Event = { type: 'reply', text: 'I read on.', by: 'a' }
  const failure = unfinished('steps', 'its 50 allowed steps are made')
  golden(t, await printedOf([summary, reply], { ok: false, failure }))
  const later = unfinished('window', 'nothing more can be left out', 60_000)
  assert.equal((await printedOf([reply], { ok: false, failure: later })).code, 75)
  const { ok, text, failure: told } = JSON.parse((await printedOf([reply], { ok: false, failure }, 'json')).out)
  assert.deepEqual({ ok, text, told }, { ok: false, text: 'I read on.', told: failure })
})
