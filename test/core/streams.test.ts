import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../cases.ts'
import { Channel } from '../../src/base/channel.ts'
import { settled } from '../hand-clock.ts'
import { merge } from '../../src/base/merge.ts'
import { all } from '../all-items.ts'

test('a full channel makes the writer wait, and drops what is only offered', async () => {
  const channel = new Channel<number>(2)
  await channel.push(1)
  await channel.push(2)
  let third = false
  void channel.push(3).then(() => (third = true))
  channel.offer(99)
  await settled()
  assert.equal(third, false)
  const reader = channel[Symbol.asyncIterator]()
  assert.deepEqual(await reader.next(), { done: false, value: 1 })
  await settled()
  assert.equal(third, true)
  channel.close()
  assert.deepEqual([(await reader.next()).value, (await reader.next()).value, (await reader.next()).done], [2, 3, true])
})

test('items from before the close are read, later ones are dropped, and a waiting writer is released', async () => {
  const channel = new Channel<number>(1)
  await channel.push(1)
  const waiting = channel.push(2)
  channel.close()
  await waiting
  await channel.push(3)
  channel.offer(4)
  assert.deepEqual(await all(channel), [1])
})

test('a reader that leaves closes the channel behind it', async () => {
  const channel = new Channel<number>(1)
  await channel.push(1)
  for await (const _item of channel) break
  await channel.push(2)
  await channel.push(3)
  assert.deepEqual(await all(channel), [])
})

test('property: everything one writer pushes is read, in order, whatever the limit', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat()), fc.integer({ min: 1, max: 5 }), async (items, limit) => {
      const channel = new Channel<number>(limit)
      void (async () => {
        for (const item of items) await channel.push(item)
        channel.close()
      })()
      assert.deepEqual(await all(channel), items)
    }),
  )
})

test('property: merged streams keep their own order, and nothing is lost', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(fc.nat(), { maxLength: 80 }), { maxLength: 5 }), async (lists) => {
      const streams = lists.map(async function* (list, index) {
        for (const item of list) yield { index, item }
      })
      const merged = await all(merge(streams))
      const apart = lists.map((_, i) => merged.filter(({ index }) => index === i).map(({ item }) => item))
      assert.deepEqual(apart, lists)
    }),
    { numRuns: 50 },
  )
})

test('a stream that breaks lets the others finish, and then says so', async () => {
  async function* bad(): AsyncGenerator<string> {
    yield 'half'
    throw new Error('broke')
  }
  async function* good() {
    yield 'a'
    yield 'b'
  }
  const seen: string[] = []
  await assert.rejects(async () => {
    for await (const item of merge([bad(), good()])) seen.push(item)
  }, new Error('broke'))
  assert.deepEqual(seen.toSorted(), ['a', 'b', 'half'])
})

test('leaving a merge ends every stream in it', async () => {
  let left = 0
  const streams = [1, 2, 3].map(async function* (n) {
    try {
      for (;;) yield n
    } finally {
      left++
    }
  })
  for await (const _item of merge(streams)) break
  assert.equal(left, 3)
})
