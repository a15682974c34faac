import { test } from 'node:test'
import assert from 'node:assert/strict'
import { dayName, filledDays, rangeNamed, since } from '../../../src/page/browser/usage/usage-range.ts'

const none = { input: 0, output: 0, turns: 0, failures: 0, parkedMs: 0 }
const noon = new Date(2026, 2, 30, 12).getTime()

test('a range begins with its first day, and days on which nothing was used count zero', () => {
  const week = rangeNamed('7')
  assert.equal(since(week, noon), new Date(2026, 2, 24).getTime())
  const used = { key: '2026-03-25', ...none, input: 5 }
  const days = filledDays([used], week, noon)
  assert.deepEqual(
    days.map(({ key, input }) => [key, input]),
    ['24', '25', '26', '27', '28', '29', '30'].map((day) => [`2026-03-${day}`, day === '25' ? 5 : 0]),
  )
  const all = rangeNamed('all')
  assert.deepEqual([since(all, noon), filledDays([used], all, noon).length, filledDays([], all, noon)], [0, 6, []])
})

test('an unknown range is thirty days', () => {
  assert.equal(rangeNamed('x').days, 30)
  assert.equal(rangeNamed(null).days, 30)
  assert.equal(dayName(new Date(2026, 0, 2)), '2026-01-02')
})
