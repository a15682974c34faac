import { test } from 'node:test'
import assert from 'node:assert/strict'
import { RecentBytes } from '../../src/base/recent-bytes.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

async function all(kept: RecentBytes, after: number): Promise<[number, string][]> {
  const seen: [number, string][] = []
  for await (const { at, bytes } of kept.follow(after)) seen.push([at, new TextDecoder().decode(bytes)])
  return seen
}

test('bytes are read from a position on, those that are gone are passed over', async () => {
  const kept = new RecentBytes(6)
  for (const text of ['abc', 'def', 'ghi']) kept.push(bytes(text))
  assert.equal(kept.end, 9)
  kept.close()
  const cases: [number, [number, string][]][] = [
    [
      0,
      [
        [3, 'def'],
        [6, 'ghi'],
      ],
    ],
    [
      4,
      [
        [4, 'ef'],
        [6, 'ghi'],
      ],
    ],
    [8, [[8, 'i']]],
    [9, []],
  ]
  for (const [after, wanted] of cases) assert.deepEqual(await all(kept, after), wanted)
})

test('a reader is given new bytes, and a gap where some were not seen', async () => {
  const kept = new RecentBytes()
  const reading = all(kept, 2)
  kept.push(bytes('abc'))
  await Promise.resolve()
  kept.push(bytes('xyz'), 10)
  kept.close()
  assert.deepEqual(await reading, [
    [2, 'c'],
    [10, 'xyz'],
  ])
})
