import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../../cases.ts'
import { RowHeights } from '../../../src/page/browser/lists/row-heights.ts'

test('tops, rows and the total are those of a plain sum, whatever was measured', () => {
  const heights = fc.array(fc.tuple(fc.nat(999), fc.integer({ min: 1, max: 90 })), { maxLength: 60 })
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1_000 }),
      heights,
      fc.double({ min: 0, max: 1, noNaN: true }),
      (count, measured, part) => {
        const rows = new RowHeights(count, 20)
        const plain = Array.from({ length: count }, () => 20)
        for (const [row, height] of measured) {
          const grown = row < count ? height - plain[row]! : 0
          if (row < count) plain[row] = height
          assert.equal(rows.measure(row, height), grown)
        }
        const tops = [0]
        for (const height of plain) tops.push(tops.at(-1)! + height)
        assert.equal(rows.total, tops.at(-1))
        const distance = Math.floor(part * (rows.total - 1))
        const at = tops.findLastIndex((top) => top <= distance)
        assert.equal(rows.rowAt(distance), at)
        assert.deepEqual([rows.top(at), rows.top(count)], [tops[at], rows.total])
      },
    ),
  )
})

test('a distance outside gives the first or the last row, and an empty list has no height', () => {
  const rows = new RowHeights(3, 10)
  assert.deepEqual([rows.rowAt(-5), rows.rowAt(500), rows.top(3)], [0, 2, 30])
  const none = new RowHeights(0, 10)
  assert.deepEqual([none.rowAt(0), none.total, none.measure(0, 5)], [0, 0, 0])
})
