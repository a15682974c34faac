import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Line, Log } from '../../src/core/talk/store.ts'
import { StoreError } from '../../src/core/talk/store.ts'

export type Item = { id: number; text?: string }

/** Fresh and empty; `same` is another hold on the same log, as another part of the program would have. */
export type LogMaker = () => { log: Log<Item>; same: Log<Item> }

export async function allBack<T>(log: Log<T>, before?: number): Promise<Line<T>[]> {
  const lines: Line<T>[] = []
  for await (const line of log.back(before)) lines.push(line)
  return lines
}

/** The first lines that following gives; it must end by itself when it is told to stop. */
export async function firstFollowed<T>(log: Log<T>, after: number, count: number): Promise<Line<T>[]> {
  const stop = new AbortController()
  const lines: Line<T>[] = []
  if (count === 0) stop.abort()
  for await (const line of log.follow(after, stop.signal)) if (lines.push(line) === count) stop.abort()
  return lines
}

const ids = (lines: Line<Item>[]) => lines.map((line) => line.item?.id)

/** The contract of every Log, wherever it is kept. */
export function logContract(name: string, make: LogMaker): void {
  test(`${name}: an empty log has nothing and ends at 0`, async () => {
    const { log } = make()
    assert.deepEqual(await allBack(log), [])
    assert.equal(await log.end(), 0)
  })

  test(`${name}: items come back whole, newest first, and followed oldest first`, async () => {
    const { log, same } = make()
    const items: Item[] = [{ id: 1, text: 'línea\n"two" \u2028 😀' }, { id: 2 }, { id: 3, text: 'x'.repeat(200_000) }]
    for (const item of items) await log.append(item)
    const back = await allBack(same)
    assert.deepEqual(
      back.map((line) => line.item),
      items.toReversed(),
    )
    assert.deepEqual(await firstFollowed(same, 0, 3), back.toReversed())
    const read: Line<Item>[] = []
    for await (const line of same.read()) read.push(line)
    assert.deepEqual(read, back.toReversed())
  })

  test(`${name}: a position leads to its item and to none before it`, async () => {
    const { log } = make()
    await log.append({ id: 1 })
    const second = await log.append({ id: 2 })
    const end = await log.end()
    await log.append({ id: 3 })
    assert.deepEqual(ids(await firstFollowed(log, second, 2)), [2, 3])
    assert.deepEqual(ids(await firstFollowed(log, end, 1)), [3])
    for (const { at, item } of await allBack(log)) assert.deepEqual(ids(await firstFollowed(log, at, 1)), [item?.id])
  })

  test(`${name}: items that are linked continue the last one, in one order for everybody`, async () => {
    const { log, same } = make()
    const next = (from: Log<Item>) =>
      from.link((last) => {
        const id = last.at(-1)?.item?.id ?? 0
        return [{ id: id + 1, text: 'x'.repeat(20_000) }, { id: id + 2 }]
      })
    await Promise.all(Array.from({ length: 10 }, (_, i) => next(i % 2 ? log : same)))
    await log.link(() => [])
    assert.deepEqual(
      ids(await allBack(same)).reverse(),
      Array.from({ length: 20 }, (_, i) => i + 1),
    )
    await assert.rejects(
      log.link(() => {
        throw new StoreError('no')
      }),
      /no/,
    )
    await next(log)
    assert.deepEqual(ids(await allBack(same)).slice(0, 2), [22, 21])
  })

  test(`${name}: reading back goes on before any line that was read`, async () => {
    const { log } = make()
    for (const id of [1, 2, 3, 4]) await log.append({ id })
    const whole = await allBack(log)
    for (const [index, { at }] of whole.entries()) assert.deepEqual(await allBack(log, at), whole.slice(index + 1))
  })

  test(`${name}: kept items are not changed by code that handed them in or read them`, async () => {
    const { log } = make()
    const item = { id: 1, text: 'as it was' }
    await log.append(item)
    item.text = 'changed'
    for await (const line of log.back()) line.item!.text = 'changed too'
    assert.deepEqual(await allBack(log), [{ at: 0, item: { id: 1, text: 'as it was' } }])
  })

  test(`${name}: appends side by side are all kept, in the order they were made`, async () => {
    const { log } = make()
    await Promise.all(Array.from({ length: 50 }, (_, id) => log.append({ id })))
    assert.deepEqual(
      ids((await allBack(log)).reverse()),
      Array.from({ length: 50 }, (_, id) => id),
    )
  })

  test(`${name}: a follower is given the items that are appended meanwhile`, async () => {
    const { log, same } = make()
    await log.append({ id: 1 })
    const seen = firstFollowed(same, 0, 3)
    await log.append({ id: 2 })
    await log.append({ id: 3 })
    assert.deepEqual(ids(await seen), [1, 2, 3])
  })

  test(`${name}: following an empty log waits for its first item`, async () => {
    const { log, same } = make()
    const seen = firstFollowed(same, 0, 1)
    await log.append({ id: 1 })
    assert.deepEqual(ids(await seen), [1])
  })

  test(`${name}: a wait ends when it is told to, also before it began`, async () => {
    const { log } = make()
    const stop = new AbortController()
    const next = log.follow(0, stop.signal)[Symbol.asyncIterator]().next()
    stop.abort()
    assert.deepEqual(await next, { value: undefined, done: true })
    assert.deepEqual(await firstFollowed(log, 0, 0), [])
  })

  test(`${name}: leaving early ends a reading`, async () => {
    const { log } = make()
    for (const id of [1, 2, 3]) await log.append({ id })
    for await (const { item } of log.back()) {
      assert.deepEqual(item, { id: 3 })
      break
    }
    for await (const { item } of log.follow(0, new AbortController().signal)) {
      assert.deepEqual(item, { id: 1 })
      break
    }
  })

  test(`${name}: clear takes everything away, twice as well, and the log goes on`, async () => {
    const { log, same } = make()
    await log.append({ id: 1 })
    await same.append({ id: 2 })
    await log.clear()
    await log.clear()
    assert.deepEqual(await allBack(same), [])
    await same.append({ id: 3 })
    await log.append({ id: 4 })
    assert.deepEqual(ids(await allBack(log)), [4, 3])
  })

  test(`${name}: a follower goes on behind a clear, also when the new items take more room`, async () => {
    const { log, same } = make()
    const stop = new AbortController()
    const seen: (number | undefined)[] = []
    await log.append({ id: 1 })
    for await (const { item } of same.follow(0, stop.signal)) {
      seen.push(item?.id)
      if (item?.id === 1) {
        await log.clear()
        await log.append({ id: 2, text: 'x'.repeat(100) })
        await log.append({ id: 3 })
      }
      if (item?.id === 3) stop.abort()
    }
    assert.deepEqual(seen, [1, 2, 3])
  })

  test(`${name}: a position from before a clear does not hide the items after it`, async () => {
    const { log } = make()
    for (const id of [1, 2, 3]) await log.append({ id })
    const end = await log.end()
    await log.clear()
    await log.append({ id: 4 })
    assert.deepEqual(ids(await firstFollowed(log, end, 1)), [4])
  })

  test(`${name}: erased lines are gone for every reader, and all others are where they were`, async () => {
    const { log, same } = make()
    for (const id of [1, 2, 3, 4]) await log.append({ id, text: 'größer 😀' })
    const before = await allBack(log)
    const until = await log.end()
    await log.append({ id: 2, text: 'later' })
    const last = (await allBack(log))[0]!
    const seen: (number | undefined)[] = []
    await same.erase(({ item }) => {
      seen.push(item?.id)
      return item?.id === 2 || item?.id === 4
    }, until)
    const left = [last, before[1]!, before[3]!]
    assert.deepEqual(seen, [1, 2, 3, 4])
    assert.deepEqual(await allBack(log), left)
    assert.deepEqual(await firstFollowed(same, 0, 3), left.toReversed())
    const read: Line<Item>[] = []
    for await (const line of log.read()) read.push(line)
    assert.deepEqual(read, left.toReversed())
    await log.erase(() => true, Infinity)
    assert.deepEqual(await allBack(same), [])
    const at = await log.append({ id: 5 })
    assert.deepEqual(ids(await firstFollowed(log, at, 1)), [5])
    assert.deepEqual(ids(await allBack(same)), [5])
  })
}
