import type { HubChange } from '../../../../src/hub/model/hub-ledger.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../../../cases.ts'
import { settled } from '../../../hand-clock.ts'
import { ChangeFeed, eventStreamText, placeIn, placeText } from '../../../../src/hub/http/routes/change-feed.ts'
import { sized } from '../../../full.ts'

/** A ledger of changes alone, whose answers come after some turns of the event loop, and which counts what is read. */
class Changes {
  epoch = 'e1'
  all: HubChange[] = []
  oldest = 1
  reads: string[] = []
  turns = () => 1

  write(count: number): void {
    for (let left = count; left > 0; left--)
      this.all.push({ seq: this.all.length + 1, at: 0, type: 'gone', id: `${this.epoch} ${this.all.length + 1}` })
  }

  async since(seq: number, most: number, epoch?: string): Promise<HubChange[] | undefined> {
    this.reads.push(`${seq} ${most}`)
    await this.#pass()
    if ((epoch ?? this.epoch) !== this.epoch || seq > this.all.length || seq + 1 < this.oldest) return undefined
    const found = this.all.slice(seq, seq + most)
    await this.#pass()
    return found
  }

  async look<T>(work: (look: { seq: number; epoch: string }) => Promise<T>): Promise<T> {
    await this.#pass()
    return work({ seq: this.all.length, epoch: this.epoch })
  }

  async #pass(): Promise<void> {
    for (let left = this.turns(); left > 0; left--) await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Follows from a place; `seen` are the numbers, and `lost` after them where the follower was told so. */
function follow(feed: ChangeFeed, text: string, { mostBehind = Infinity, pace = async () => {} } = {}) {
  const stop = new AbortController()
  const seen: (number | 'lost')[] = []
  const ids: string[] = []
  const over = (async () => {
    for await (const more of feed.after(placeIn(text)!, stop.signal, mostBehind)) {
      seen.push(...(more ? more.changes.map(({ seq }) => seq) : ['lost' as const]))
      for (const { seq } of more?.changes ?? [])
        ids.push(placeText(more?.epoch === undefined ? { seq } : { seq, epoch: more.epoch }))
      await pace()
    }
  })()
  return { seen, ids, over, stop: () => (stop.abort(), over) }
}

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at)

test('new changes are read once for all followers', async () => {
  const ledger = new Changes()
  ledger.write(10)
  const feed = new ChangeFeed(ledger)
  const followers = Array.from({ length: 50 }, () => follow(feed, 'e1.10'))
  for (let round = 0; round < 5; round++) await settled()
  ledger.reads = []
  ledger.write(3)
  feed.notify()
  for (let round = 0; round < 5; round++) await settled()
  assert.deepEqual(ledger.reads, ['10 500'])
  for (const { seen, ids } of followers) assert.deepEqual([seen, ids], [numbers(11, 13), ['e1.11', 'e1.12', 'e1.13']])
  await Promise.all(followers.map((one) => one.stop()))
})

test('a follower that is far behind reads the ledger by itself, up to what is in memory', async () => {
  const ledger = new Changes()
  ledger.write(100)
  const feed = new ChangeFeed(ledger)
  const near = follow(feed, 'e1.100')
  for (let round = 0; round < 5; round++) await settled()
  ledger.reads = []
  const far = follow(feed, '40')
  for (let round = 0; round < 5; round++) await settled()
  assert.deepEqual([far.seen, ledger.reads], [numbers(41, 100), ['100 500', '40 60']])
  const page = follow(feed, '40', { mostBehind: 59 })
  await page.over
  assert.deepEqual(page.seen, ['lost'])
  await Promise.all([near.stop(), far.stop()])
})

test('a follower is told to read anew where its place is not in the ledger: pruned, of another series, or beyond the end', async () => {
  const ledger = new Changes()
  ledger.write(20)
  ledger.oldest = 11
  const feed = new ChangeFeed(ledger)
  for (const place of ['9', 'e1.9', 'e0.15', 'e1.21', '999999999999999']) {
    const one = follow(feed, place)
    await one.over
    assert.deepEqual(one.seen, ['lost'], place)
  }
  const fine = follow(feed, 'e1.10')
  for (let round = 0; round < 5; round++) await settled()
  assert.deepEqual(fine.seen, numbers(11, 20))
  // The ledger is restored from a backup: its numbers go on from an earlier one, in a series of their own.
  ledger.epoch = 'e2'
  ledger.all.length = 15
  ledger.write(7)
  feed.notify()
  await fine.over
  assert.deepEqual(fine.seen, [...numbers(11, 20), 'lost'])
  const anew = follow(feed, 'e2.20')
  for (let round = 0; round < 5; round++) await settled()
  assert.deepEqual(anew.ids, ['e2.21', 'e2.22'])
  await anew.stop()
})

test('a ledger without series is followed by numbers alone', async () => {
  const ledger = new Changes()
  ledger.write(600)
  const feed = new ChangeFeed({ since: (seq, most) => ledger.all.slice(seq, seq + most) })
  const beyond = follow(feed, '601')
  await beyond.over
  assert.deepEqual(beyond.seen, ['lost'])
  const [late, early] = [follow(feed, '598'), follow(feed, '0')]
  for (let round = 0; round < 5; round++) await settled()
  assert.deepEqual([late.seen, late.ids, early.seen], [[599, 600], ['599', '600'], numbers(1, 600)])
  await Promise.all([late.stop(), early.stop()])
})

test('ids name the series where it is known, and older ids still name a place', () => {
  const change: HubChange = { seq: 7, at: 1, type: 'gone', id: 'a' }
  assert.match(eventStreamText(change), /^id: 7\nevent: gone\n/)
  assert.match(eventStreamText(change, '1f-2e'), /^id: 1f-2e\.7\nevent: gone\n/)
  assert.deepEqual(['1f-2e.7', '7', '', 'x', '-1', '1.5.2', '.7', '7.'].map(placeIn), [
    { seq: 7, epoch: '1f-2e' },
    { seq: 7 },
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})

const step = fc.oneof(
  fc.record({ type: fc.constant('write' as const), count: fc.integer({ min: 1, max: 1_500 }) }),
  fc.record({
    type: fc.constant('follow' as const),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    slow: fc.nat(4),
  }),
  fc.record({ type: fc.constant('wait' as const), turns: fc.nat(6) }),
)

test('however followers come and changes happen, no follower misses a change or gets one twice', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.infiniteStream(fc.nat(3)), async (steps, luck) => {
      const ledger = new Changes()
      ledger.turns = () => luck.next().value!
      const feed = new ChangeFeed(ledger)
      const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
      const followers: { from: number; one: ReturnType<typeof follow> }[] = []
      for (const deed of steps) {
        if (deed.type === 'write') {
          ledger.write(deed.count)
          feed.notify()
        } else if (deed.type === 'follow') {
          const from = Math.floor(deed.share * ledger.all.length)
          const pace = async () => {
            for (let left = deed.slow; left > 0; left--) await turn()
          }
          followers.push({ from, one: follow(feed, from % 2 === 0 ? String(from) : `e1.${from}`, { pace }) })
        } else for (let left = deed.turns; left > 0; left--) await turn()
      }
      const last = ledger.all.length
      for (const { from, one } of followers) {
        while (one.seen.length < last - from && one.seen.at(-1) !== 'lost') await turn()
        assert.deepEqual(one.seen, numbers(from + 1, last))
        await one.stop()
      }
    }),
    { numRuns: sized(60, 2_000) },
  )
})
