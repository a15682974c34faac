import { test } from 'node:test'
import assert from 'node:assert/strict'

import { shortIds } from '../../src/base/id.ts'
import fc from '../cases.ts'

test('an id is shortened to the letters that no other id begins with, but to no fewer than eight', () => {
  const ids = ['01kq0000aaaa', '01kq0000aabb', '01kq0000b', '02zz99990000', 'short']
  const short = shortIds([...ids, ids[0]!])
  assert.deepEqual(ids.map(short), ['01kq0000aaa', '01kq0000aab', '01kq0000b', '02zz9999', 'short'])
  assert.equal(short('of-another-list'), 'of-another-list')
})

test('a shortened id always finds the one id that it was made of', () => {
  const id = fc.string({ unit: fc.constantFrom('0', '1'), minLength: 12, maxLength: 12 })
  fc.assert(
    fc.property(fc.uniqueArray(id, { minLength: 1 }), (ids) => {
      const short = shortIds(ids)
      for (const one of ids)
        assert.deepEqual(
          ids.filter((other) => other.startsWith(short(one))),
          [one],
        )
    }),
  )
})
