import { test } from 'node:test'
import assert from 'node:assert/strict'
import { pathToFileURL } from 'node:url'
import fc from '../../cases.ts'
import { pastedPaths } from '../../../src/chat/input/pasted-paths.ts'

/** A name of a file without line breaks, as long as it does not begin or end with a space. */
const name = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
  .map((text) => text.replaceAll(/[\p{C}\s/]/gu, ' ').trim())
  .filter((text) => text !== '' && text !== '.' && text !== '..')
const path = fc
  .tuple(fc.constantFrom('/', '~/', './', '../'), fc.array(name, { minLength: 1, maxLength: 4 }))
  .map(([root, names]) => root + names.join('/'))
const absolute = path.filter((one) => one.startsWith('/'))

const ways: Record<string, (path: string) => string> = {
  'single quotes': (one) => `'${one.replaceAll("'", `'"'"'`)}'`,
  'double quotes': (one) => `"${one.replaceAll(/(["\\$`])/g, '\\$1')}"`,
  backslashes: (one) => one.replaceAll(/([^\w./~-])/gu, '\\$1'),
}

const has = (readings: string[][] | undefined, paths: readonly string[]) =>
  assert.ok(
    readings?.some((reading) => JSON.stringify(reading) === JSON.stringify(paths)),
    `${JSON.stringify(paths)} is not among ${JSON.stringify(readings)}`,
  )

for (const [way, written] of Object.entries(ways))
  test(`paths in ${way} are found, one or several, in a row or in lines`, () => {
    fc.assert(
      fc.property(fc.array(path, { minLength: 1, maxLength: 4 }), (paths) => {
        for (const between of [' ', '  ', '\n', '\r\n']) has(pastedPaths(paths.map(written).join(between)), paths)
        has(pastedPaths(`  ${written(paths[0]!)} \n`), [paths[0]!])
      }),
    )
  })

test('a path as it is, and addresses of files, are found whatever is in their names', () => {
  fc.assert(
    fc.property(absolute, absolute, (one, other) => {
      has(pastedPaths(one), [one])
      has(
        pastedPaths(`${one}\n${other}`),
        [one, other].filter((line) => !line.startsWith('#')),
      )
      has(pastedPaths(pathToFileURL(one).href), [one])
      has(pastedPaths(`${pathToFileURL(one).href}\r\n${pathToFileURL(other).href}\r\n`), [one, other])
    }),
  )
  has(pastedPaths('/home/me/My Shots/a b.png /tmp/c d.png'), ['/home/me/My Shots/a b.png', '/tmp/c d.png'])
  has(pastedPaths('file://localhost/a%20b.png'), ['/a b.png'])
})

test('a text with more than a path in it is no path', () => {
  for (const text of [
    '',
    'shot.png',
    'please look at /tmp/shot.png',
    '// a comment',
    'file://server/share/shot.png',
    'file:///bad%zz.png',
    'https://example.com/shot.png',
    'C:\\Users\\me\\shot.png',
    `/${'x'.repeat(20_000)}`,
  ])
    assert.equal(pastedPaths(text), undefined, text)
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      for (const reading of pastedPaths(text) ?? []) assert.ok(reading.length > 0)
    }),
  )
})

test('paths of Windows are found in its Linux', () => {
  has(pastedPaths('"C:\\Users\\me\\My Shots\\a.png"', { wsl: true }), ['/mnt/c/Users/me/My Shots/a.png'])
  has(pastedPaths('D:\\a.png', { wsl: true }), ['/mnt/d/a.png'])
})
