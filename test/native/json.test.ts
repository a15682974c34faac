import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../cases.ts'
import { jsonFormat } from '../../src/native/mcp-config/json-format.ts'

const path = ['mcpServers', 'termaite']
const entry = { command: 'termaite', args: ['mcp'] }
const { find, put, take } = jsonFormat

/** Files as people have them, and as they are with our entry in them. */
const files: Record<string, [before: string, after: string]> = {
  'an empty file': [
    '',
    '{\n  "mcpServers": {\n    "termaite": {\n      "command": "termaite",\n      "args": [\n        "mcp"\n      ]\n    }\n  }\n}\n',
  ],
  'one line': ['{"a":1}', '{"a":1, "mcpServers": {"termaite":{"command":"termaite","args":["mcp"]}}}'],
  'comments and a trailing comma': [
    '{\n    // mine\n    "theme": "dark", /* kept */\n    "mcpServers": {\n        "x": {"command":   "x"}, // why\n    },\n}\n',
    '{\n    // mine\n    "theme": "dark", /* kept */\n    "mcpServers": {\n        "x": {"command":   "x"}, // why\n        "termaite": {\n            "command": "termaite",\n            "args": [\n                "mcp"\n            ]\n        },\n    },\n}\n',
  ],
  'a remark without a comma': [
    '{\n  "mcpServers": {\n    "x": 1 // one, two\n  }\n}',
    '{\n  "mcpServers": {\n    "x": 1, // one, two\n    "termaite": {\n      "command": "termaite",\n      "args": [\n        "mcp"\n      ]\n    }\n  }\n}',
  ],
  'tabs and CRLF': [
    '{\r\n\t"mcpServers": {\r\n\t\t"x": 1\r\n\t}\r\n}\r\n',
    '{\r\n\t"mcpServers": {\r\n\t\t"x": 1,\r\n\t\t"termaite": {\r\n\t\t\t"command": "termaite",\r\n\t\t\t"args": [\r\n\t\t\t\t"mcp"\r\n\t\t\t]\r\n\t\t}\r\n\t}\r\n}\r\n',
  ],
  'an editor’s mark': [
    '\uFEFF{\n  "x": 1\n}\n',
    '\uFEFF{\n  "x": 1,\n  "mcpServers": {\n    "termaite": {\n      "command": "termaite",\n      "args": [\n        "mcp"\n      ]\n    }\n  }\n}\n',
  ],
  'a comment in an empty object': [
    '{\n  "mcpServers": {\n    // none yet\n  }\n}\n',
    '{\n  "mcpServers": {\n    "termaite": {\n      "command": "termaite",\n      "args": [\n        "mcp"\n      ]\n    }\n    // none yet\n  }\n}\n',
  ],
}

for (const [name, [before, after]] of Object.entries(files))
  test(`our entry goes into ${name}, and every other byte stays`, () => {
    assert.equal(put(before, path, entry), after)
    assert.deepEqual(find(after, path), entry)
    assert.equal(put(after, path, entry), after)
  })

test('removing our entry restores the file as it was', () => {
  for (const name of [
    'one line',
    'comments and a trailing comma',
    'a remark without a comma',
    'tabs and CRLF',
    'an editor’s mark',
  ])
    assert.equal(take(files[name]![1], path), files[name]![0], name)
})

test('another entry under our name is replaced in its place', () => {
  const text = '{\n  "mcpServers": {\n    "termaite": {"command": "old"},\n    "x": 1\n  }\n}\n'
  assert.equal(
    put(text, path, { command: 'new' }),
    '{\n  "mcpServers": {\n    "termaite": {\n      "command": "new"\n    },\n    "x": 1\n  }\n}\n',
  )
})

test('property: a file keeps its values with our entry, and without it again', () => {
  const document = fc.dictionary(fc.string(), fc.jsonValue())
  fc.assert(
    fc.property(document, fc.option(document), fc.constantFrom(undefined, 1, 2, '\t'), (top, servers, indent) => {
      const { mcpServers: _, ...rest } = top
      const { termaite: __, ...others } = servers ?? {}
      const value = servers ? { ...rest, mcpServers: others } : rest
      const text = JSON.stringify(value, null, indent)
      const added = put(text, path, entry)
      assert.deepEqual(JSON.parse(added), plain({ ...value, mcpServers: { ...others, termaite: entry } }))
      const left: unknown = JSON.parse(take(added, path))
      const whole = Object.keys(others).length === 0 ? rest : value
      assert.deepEqual(left, plain(whole))
    }),
  )
})

test('a file that is no JSON, or holds something else there, is refused', () => {
  const refused = (text: string, words: string) =>
    assert.throws(() => put(text, path, entry), { name: 'UnusableConfig', message: words })
  refused('{\n  "a": ,\n}', 'is not JSON (line 2: value expected); correct it first')
  refused('{} {}', 'is not JSON (line 1: end of file expected); correct it first')
  refused('[]', 'must hold an object at its top; correct it first')
  refused('{"mcpServers": []}', 'must hold an object under mcpServers; correct it first')
})

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
