import { test } from 'node:test'
import assert from 'node:assert/strict'
import { defined } from '../../src/base/defined.ts'

test('a property without a value is left out; every other value stays, the falsy ones too', () => {
  assert.deepEqual(Object.entries(defined({ a: 1, b: undefined, c: 0, d: '', e: null, f: false })), [
    ['a', 1],
    ['c', 0],
    ['d', ''],
    ['e', null],
    ['f', false],
  ])
})
