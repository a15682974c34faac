import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../cases.ts'
import { parseToml, TomlError } from '../../src/base/text/toml-parser.ts'

/** The parser's tables have no prototype, and its dates are objects. */
const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown

test('a document with every kind of value is read', () => {
  const text = `
# a comment
title = "TOML \\u00e9 \\"x\\" \\\\ \\t"
'quoted "key"' = 'C:\\path'
long = """
first \\
   joined
"two" quotes"""
raw = '''
a\\b'''
numbers = [1, -2, +3, 1_000, 0xff, 0o17, 0b11, 3.5, 1e3, -0.5E-2] # behind
dates = [1979-05-27T07:32:00Z, 1979-05-27 07:32:00, 1979-05-27, 07:32:00]
mixed = [
  "a", # one
  ["b"],
  { c = 1, "d.e" = true },
]
a.b."c d" = false

[owner]
name = "Tom"
inline = { first = 1, second.third = 2 }

[owner.more]
x = 1

[[rule]]
tool = "one"
[rule.inner]
y = 2
[[rule]]
tool = "two"
[[rule.sub]]
z = 3
`
  assert.deepEqual(plain(parseToml(text)), {
    title: 'TOML é "x" \\ \t',
    'quoted "key"': 'C:\\path',
    long: 'first joined\n"two" quotes',
    raw: 'a\\b',
    numbers: [1, -2, 3, 1000, 255, 15, 3, 3.5, 1000, -0.005],
    dates: ['1979-05-27T07:32:00.000Z', '1979-05-27T07:32:00.000', '1979-05-27', '07:32:00.000'],
    mixed: ['a', ['b'], { c: 1, 'd.e': true }],
    a: { b: { 'c d': false } },
    owner: { name: 'Tom', inline: { first: 1, second: { third: 2 } }, more: { x: 1 } },
    rule: [
      { tool: 'one', inner: { y: 2 } },
      { tool: 'two', sub: [{ z: 3 }] },
    ],
  })
  assert.deepEqual(plain(parseToml('\uFEFFa = 1\r\n[b]\r\nc = "x"\r\n')), { a: 1, b: { c: 'x' } })
  const long = 'x'.repeat(10_000_000)
  assert.deepEqual(plain(parseToml(`a = "${long}"`)), { a: long })
  assert.deepEqual(parseToml('a = 9007199254740993').a, 9007199254740993n)
})

test('a text that is not TOML is refused with its line', () => {
  const lines: [text: string, line: number][] = [
    ['a = 1\na = 2', 2],
    ['a = "open', 1],
    ['\n\n[a\nb = 1', 3],
    ['a = [1, 2', 1],
    ['a = 1 b = 2', 1],
    ['[a]\n[a]', 2],
    ['a = { b = 1 }\n[a.c]', 2],
    ['a = [1]\n[[a]]', 2],
    ['a = 1\n[a.b]', 2],
    ['a.b = 1\n[a]', 2],
    ['\na = "\u0001"', 2],
    ['a = 01', 1],
    ['a = "\\q"', 1],
    ['a = "\\ud800"', 1],
    ['= 1', 1],
    ['{"json": true}', 1],
    [`a = ${'['.repeat(5000)}`, 1],
    [`a = ${'['.repeat(65)}${']'.repeat(65)}`, 1],
  ]
  for (const [text, line] of lines)
    assert.throws(
      () => parseToml(text),
      (error) => error instanceof TomlError && error.line === line,
      JSON.stringify(text.slice(0, 40)),
    )
})

test('no text ends the parser otherwise, and __proto__ is a key', () => {
  const piece = fc.constantFrom(...'[]{}"\'=.,#\n \\abc019-_'.split(''), '"""', "'''", '[[', ']]')
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      try {
        parseToml(pieces.join(''))
      } catch (error) {
        assert.ok(error instanceof TomlError)
      }
    }),
  )
  const read = parseToml('[__proto__]\npolluted = true')
  assert.deepEqual([Object.keys(read), ({} as { polluted?: boolean }).polluted], [['__proto__'], undefined])
})

test('what is written as JSON texts and lists is read as it was', () => {
  const values = fc.array(fc.oneof(fc.string({ unit: 'grapheme' }), fc.boolean(), fc.integer()))
  fc.assert(
    fc.property(values, (list) => {
      assert.deepEqual(plain(parseToml(`a = ${JSON.stringify(list).replaceAll('\x7f', '\\u007f')}`)), { a: list })
    }),
  )
})
