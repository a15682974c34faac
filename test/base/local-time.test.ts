import { test } from 'node:test'
import assert from 'node:assert/strict'
import { localTimeFrom, relativeTime } from '../../src/base/time/local-time.ts'

test('a time of today has no date, any other has one', () => {
  const noon = new Date(2026, 10, 15, 12, 5).getTime()
  assert.deepEqual([localTimeFrom(noon, noon), localTimeFrom(noon + 86_400_000, noon)], ['12:05', '2026-11-15 12:05'])
})

test('a time of a list is told by how long ago it was, and by its day after two weeks', () => {
  const now = new Date(2026, 10, 15, 12, 0, 0).getTime()
  const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000] as const
  const ages = [0, 59 * second, minute, 59 * minute, hour, 23 * hour, day, 13 * day, 14 * day, -hour]
  assert.deepEqual(
    ages.map((age) => relativeTime(now, now - age)),
    [
      'just now',
      'just now',
      '1 min ago',
      '59 min ago',
      '1 h ago',
      '23 h ago',
      '1 d ago',
      '13 d ago',
      '2026-11-01',
      '13:00',
    ],
  )
})
