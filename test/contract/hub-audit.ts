import type { Clock } from '../../src/base/time/clock.ts'
import type { AuditBounds, HubAct, HubAuditBook } from '../../src/hub/model/access/hub-audit.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { HandClock } from '../hand-clock.ts'

export type AuditMaker = {
  make(clock: Clock, bounds?: AuditBounds): HubAuditBook | Promise<HubAuditBook>
  /** The same book, opened anew. */
  again?(book: HubAuditBook, clock: Clock): HubAuditBook | Promise<HubAuditBook>
}

const act = (at: number, over: Partial<HubAct> = {}): HubAct => ({
  at,
  by: 'anna',
  key: 'key-1',
  role: 'member',
  address: '203.0.113.9',
  act: 'tasks approve',
  on: 't1',
  outcome: 'done',
  status: 200,
  ...over,
})

const plain = ({ address: _, on: __, ...rest }: HubAct): HubAct => rest

/** The contract of every HubAuditBook. */
export function auditContract(name: string, { make, again = (book) => book }: AuditMaker): void {
  test(`${name}: acts come back whole and in order, by page, time and client, also when the book is opened again`, async () => {
    const clock = new HandClock()
    const now = clock.now()
    const first = await make(clock)
    const bare = plain(act(now + 1, { by: 'ci', role: 'agent', outcome: 'refused', status: 403 }))
    await first.add([act(now), bare, act(now + 2, { on: 'ö…"\n\u0007' })])
    await first.add([])
    await first.add([act(now + 3, { by: 'ANNA' })])
    const book = await again(first, clock)
    const all = await book.page({ most: 10 })
    assert.deepEqual(
      all.map(({ number: _, ...rest }) => rest),
      [act(now), bare, act(now + 2, { on: 'ö…"\n\u0007' }), act(now + 3, { by: 'ANNA' })],
    )
    const numbers = all.map(({ number }) => number)
    assert.deepEqual(
      numbers,
      numbers.toSorted((a, b) => a - b),
    )
    assert.equal(new Set(numbers).size, 4)
    assert.deepEqual(await book.page({ most: 2 }), all.slice(0, 2))
    assert.deepEqual(await book.page({ most: 2, after: numbers[1]! }), all.slice(2))
    assert.deepEqual(await book.page({ most: 9, after: numbers[3]! }), [])
    assert.deepEqual(await book.page({ most: 9, since: now + 2 }), all.slice(2))
    assert.deepEqual(await book.page({ most: 9, by: 'anna' }), [all[0], all[2]])
    assert.deepEqual(await book.page({ most: 9, by: 'ci', since: now + 2 }), [])
    await book.close()
  })

  test(`${name}: the book keeps the newest acts, bounded in number and in age`, async () => {
    const clock = new HandClock()
    const book = await make(clock, { most: 1_500, days: 7 })
    const many = (count: number) => Array.from({ length: count }, (_, at) => act(clock.now(), { on: String(at) }))
    await book.add(many(1_000))
    await book.add(many(1_000))
    const left = await book.page({ most: 5_000 })
    assert.equal(left.length, 1_500)
    assert.equal(left.at(-1)?.on, '999')
    await clock.turn(8 * 86_400_000)
    await book.add(many(1_000))
    const young = await book.page({ most: 5_000 })
    assert.deepEqual([young.length, young[0]!.number > left.at(-1)!.number], [1_000, true])
    await book.close()
  })
}
