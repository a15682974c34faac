import { test } from 'node:test'
import assert from 'node:assert/strict'
import { withItem, withoutItem } from '../../src/native/mcp-config/json-lists.ts'

const path = ['permissions', 'deny']

/** Files as people write them, and what becomes of each when a rule is added. */
const files: [name: string, before: string, after: string][] = [
  ['an empty object', '{}', '{\n  "permissions": {\n    "deny": [\n      "b"\n    ]\n  }\n}'],
  [
    'a list of one line',
    '{\n  "permissions": { "deny": ["a"] }\n}\n',
    '{\n  "permissions": { "deny": ["a", "b"] }\n}\n',
  ],
  [
    'a list with comments',
    '{ // mine\n  "permissions": {\n    "deny": [\n      // keys\n      "a" // one\n    ]\n  }\n}\n',
    '{ // mine\n  "permissions": {\n    "deny": [\n      // keys\n      "a", // one\n      "b"\n    ]\n  }\n}\n',
  ],
  ['an empty list', '{"permissions":{"deny":[]}}', '{"permissions":{"deny":["b"]}}'],
]

test('an item is added and taken back, and everything else stays as it was', () => {
  for (const [name, before, after] of files) {
    const added = withItem(before, path, 'b')
    assert.equal(added, after, name)
    const back = withoutItem(added, path, 'b')
    // A list that is empty again goes with the object that holds nothing else.
    assert.equal(back, before.includes('"a"') ? before : '{}', name)
  }
})

test('a trailing comma, a byte order mark and other line ends are kept valid', () => {
  const written = '\uFEFF{\r\n\t"permissions": {\r\n\t\t"deny": [\r\n\t\t\t"a",\r\n\t\t],\r\n\t},\r\n}\r\n'
  const added = withItem(written, path, 'b')
  assert.deepEqual(
    [added.startsWith('\uFEFF{\r\n\t"permissions"'), /"a",\s+"b"/.test(added), /,\s*,/.test(added)],
    [true, true, false],
  )
  assert.equal(withoutItem(added, path, 'b').includes('"b"'), false)
})

test('objects are found again by their value, and an item that is not there changes nothing', () => {
  const hook = { matcher: 'Bash', hooks: [{ type: 'command', command: 'x' }] }
  const one = withItem('{\n}\n', ['hooks', 'Stop'], hook)
  assert.deepEqual(JSON.parse(one), { hooks: { Stop: [hook] } })
  assert.equal(withoutItem(one, ['hooks', 'Stop'], { ...hook, matcher: 'Edit' }), one)
  assert.equal(withoutItem(one, ['hooks', 'Stop'], hook).replaceAll(/\s/g, ''), '{}')
})
