import { test } from 'node:test'
import assert from 'node:assert/strict'
import { addUsage } from '../../src/core/work/budget.ts'

test('spent usage adds up, and a cost says how much of the usage it covers', () => {
  const first = addUsage({ tokens: 0 }, { input: 8, output: 2 })
  const second = addUsage(first, { input: 90, output: 10, cost: 0.5 })
  const third = addUsage(second, { input: 1, output: 1, cost: 0 })
  assert.deepEqual(
    [first, second, third, addUsage(third, { input: 5, output: 0 })],
    [
      { tokens: 10 },
      { tokens: 110, cost: 0.5, priced: 100 },
      { tokens: 112, cost: 0.5, priced: 102 },
      { tokens: 117, cost: 0.5, priced: 102 },
    ],
  )
})
