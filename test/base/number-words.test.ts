import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../cases.ts'
import { groupDigits } from '../../src/base/text/number-words.ts'

test('whole numbers are grouped as the system groups them', () => {
  fc.assert(fc.property(fc.maxSafeInteger(), (count) => assert.equal(groupDigits(count), count.toLocaleString('en'))))
  assert.deepEqual([0, 999, 1000, -1234567, 1234.5].map(groupDigits), ['0', '999', '1,000', '-1,234,567', '1,235'])
})
