import { test } from 'node:test'
import assert from 'node:assert/strict'
import { localTimeFrom } from '../../src/base/time/local-time.ts'

test('a time of today has no date, any other has one', () => {
  const noon = new Date(2026, 10, 15, 12, 5).getTime()
  assert.deepEqual([localTimeFrom(noon, noon), localTimeFrom(noon + 86_400_000, noon)], ['12:05', '2026-11-15 12:05'])
})
