import type { Event } from '../../src/core/talk/entry.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../cases.ts'
import { EventBacklog } from '../../src/core/turns/event-backlog.ts'
import { isFact } from '../../src/core/talk/entry.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

async function all(backlog: EventBacklog): Promise<Event[]> {
  const events: Event[] = []
  backlog.close()
  for await (const event of backlog.read(new AbortController().signal)) events.push(event)
  return events
}

function filled(events: readonly Event[], most?: number): EventBacklog {
  const backlog = new EventBacklog(most)
  for (const event of events) backlog.add(event)
  return backlog
}

const text = (delta: string, by = 'a'): Event => ({ type: 'text', delta, by })
const fact = (text: string): Event => ({ type: 'note', text })
const question = (ask: string): Event => ({
  type: 'question',
  ask,
  question: { about: 'choice', text: 'x'.repeat(100), from: [], options: [] },
})
const answer = (ask: string): Event => ({ type: 'answer', ask })
const end: Event = { type: 'end', outcome: { ok: true, text: '' } }

test('live events in a row that show the same become one', async () => {
  const inner = (event: Event, role = 'advisor'): Event => ({ type: 'inner', role, event })
  const progress = (call: string, delta: string): Event => ({ type: 'progress', call, delta })
  const plan = (task: string): Event => ({ type: 'plan', items: [{ task, status: 'pending' }] })
  const phase = (words: string): Event => ({ type: 'phase', framework: 'consensus', words, by: 'termaite' })
  assert.deepEqual(
    await all(
      filled([
        ...[text('a'), text('b'), text('c', 'other')],
        ...[progress('1', 'x'), progress('1', 'y'), progress('2', 'z')],
        ...[inner(text('i')), inner(text('j')), inner(text('k'), 'chair')],
        ...[{ type: 'state', state: 'starting' } as Event, { type: 'state', state: 'busy' } as Event],
        ...[
          plan('one'),
          plan('two'),
          phase('1 of 5'),
          phase('2 of 5'),
          { type: 'thought', delta: 'hm', by: 'a' } as Event,
          text('d'),
          fact('n'),
          text('e'),
        ],
      ]),
    ),
    [
      ...[text('ab'), text('c', 'other'), progress('1', 'xy'), progress('2', 'z')],
      ...[inner(text('ij')), inner(text('k'), 'chair'), { type: 'state', state: 'busy' }, plan('two')],
      ...[phase('2 of 5'), { type: 'thought', delta: 'hm', by: 'a' }, text('d'), fact('n'), text('e')],
    ],
  )
})

test('when too many events wait, the oldest live ones are dropped first, without a notice', async () => {
  const long = 'x'.repeat(40_000)
  const events = [fact('one'), text(`1${long}`), text(`2${long}`), fact('two'), text(`3${long}`), end]
  assert.deepEqual(await all(filled(events, 100_000)), [fact('one'), fact('two'), text(`3${long}`), end])
})

test('then the oldest facts are dropped, with a notice; the end and an open question stay', async (t) => {
  const facts = Array.from({ length: 20 }, (_, i) => fact(`${i}`.padEnd(500)))
  const events = [
    question('open'),
    question('settled'),
    answer('settled'),
    ...facts.slice(0, 10),
    answer('before'),
    ...facts.slice(10),
    end,
  ]
  const left = await all(filled(events, 4_000))
  golden(t, left[0])
  assert.deepEqual(
    left.slice(1),
    events.filter((event) => left.includes(event)),
  )
  assert.deepEqual(
    [question('open'), question('settled'), answer('settled'), answer('before'), end].map((event) =>
      left.some((one) => JSON.stringify(one) === JSON.stringify(event)),
    ),
    [true, false, false, true, true],
  )
})

test('a copy of a backlog has the waiting events, and is independent', async () => {
  const one = filled([text('a'), fact('n')])
  const other = one.copy()
  one.add(text('b'))
  assert.deepEqual(
    [await all(one), await all(other)],
    [
      [text('a'), fact('n'), text('b')],
      [text('a'), fact('n')],
    ],
  )
})

test('an event that cannot be written down harms nobody', async () => {
  const event: Event = { type: 'call', call: '1', tool: 't', input: 1n }
  assert.deepEqual(await all(filled([event])), [event])
})

test('property: facts stay in order, none is lost without a notice, and the newest words are whole', async () => {
  const some = fc.oneof(
    fc.record({
      type: fc.constant('text' as const),
      delta: fc.string({ maxLength: 300 }),
      by: fc.constantFrom('a', 'b'),
    }),
    fc.record({ type: fc.constant('note' as const), text: fc.string({ maxLength: 300 }) }),
    fc.record({ type: fc.constant('state' as const), state: fc.constantFrom('busy' as const, 'idle' as const) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(some, { maxLength: 60 }), fc.integer({ min: 200, max: 20_000 }), async (events, most) => {
      const left = await all(filled(events, most))
      const gap = left[0] && 'text' in left[0] && /here: (\d+) entries/.exec(left[0].text)
      const facts = events.filter(isFact)
      const kept = left.slice(gap ? 1 : 0).filter(isFact)
      assert.deepEqual(kept, facts.slice(gap ? Number(gap[1]) : 0))
      // As a reader counts them: each event is a little more than its text.
      const size = JSON.stringify(events).length + 64 * events.length
      if (size < most) assert.equal(words(left), words(events))
    }),
  )
})

function words(events: readonly Event[]): string {
  return events.map((event) => ('delta' in event ? event.delta : '')).join('')
}
