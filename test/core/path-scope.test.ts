import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../cases.ts'
import { areSeparate, isInScope, scopeFault } from '../../src/core/data/path-scope.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

test('two scopes are separate only when no file can be in both', () => {
  const separate: [string[], string[], boolean][] = [
    [['src/api'], ['src/web'], true],
    [['src/api/'], ['./src/api'], false],
    [['src'], ['src/api/server.ts'], false],
    [['SRC/api'], ['src/API'], false],
    [['src/*.ts'], ['src/a.ts'], false],
    [['../other'], ['src'], false],
    [['/etc'], ['src'], false],
    [[], ['src'], false],
    [['src/api', 'docs'], ['test', 'docs/fleet.md'], false],
  ]
  assert.deepEqual(
    separate.map(([one, other]) => areSeparate(one, other)),
    separate.map(([, , expected]) => expected),
  )
})

test('a path is in a scope when the scope names it or a folder above it', () => {
  const scope = ['src/api', './docs/fleet.md']
  const paths = ['src/api', 'src/api/a/b.ts', 'src/apis/a.ts', 'docs/fleet.md', 'docs', 'src']
  assert.deepEqual(
    paths.filter((path) => isInScope(path, scope)),
    ['src/api', 'src/api/a/b.ts', 'docs/fleet.md'],
  )
  assert.equal(isInScope('anything/at/all', ['.']), true)
})

test('only plain paths below the project can be a scope that is held to', (t) => {
  golden(t, ['src', 'a b/c.ts', '', '/etc', '~/x', 'C:\\x', 'a/../../b', 'src/*.ts', 'a{b,c}'].map(scopeFault))
})

test('no path is in two scopes that are separate', () => {
  const path = fc
    .array(fc.constantFrom('a', 'b', 'c', '.'), { minLength: 1, maxLength: 4 })
    .map((names) => names.join('/'))
  const scope = fc.array(path, { minLength: 1, maxLength: 3 })
  fc.assert(
    fc.property(scope, scope, path, (one, other, some) => {
      if (areSeparate(one, other)) assert.equal(isInScope(some, one) && isInScope(some, other), false)
    }),
  )
})
