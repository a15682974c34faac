import { test } from 'node:test'
import assert from 'node:assert/strict'
import { tomlFormat } from '../../src/native/mcp-config/toml-format.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const path = ['mcp_servers', 'termaite']
const entry = { command: 'C:\\a "b"', args: ['mcp', 'serve'] }
const own = '[mcp_servers.termaite]\ncommand = "C:\\\\a \\"b\\""\nargs = ["mcp", "serve"]\n'
const { find, put, take } = tomlFormat

const settings = [
  'model = "gpt" # which',
  'notify = [',
  '  "x", # ] not the end',
  ']',
  'text = """',
  '[mcp_servers.termaite]',
  '"""',
  "raw = '''",
  "[mcp_servers.termaite]'''",
  '[mcp_servers.other]',
  'env = { A = "}" }',
  '[[profiles]]',
  '"a = b" = 1',
  '',
].join('\n')

test('our table goes to the end, and comes out again', () => {
  const text = put(settings, path, entry)
  assert.equal(text, `${settings}\n${own}`)
  assert.deepEqual(find(text, path), entry)
  assert.equal(put(text, path, entry), text)
  assert.equal(take(text, path), settings)
  assert.equal(find(settings, path), undefined)
})

test('an empty file holds our table alone; one without a last line end gets it', () => {
  assert.equal(put('', path, entry), own)
  assert.equal(take(own, path), '')
  assert.equal(put('a = 1', path, entry), `a = 1\n\n${own}`)
})

test('a table of ours in the middle is replaced with all that is below it, and what follows stays', () => {
  const text = `a = 1\n\n[mcp_servers.termaite]\ncommand = "old"\n[mcp_servers.termaite.env]\nA = "1"\n\n# of the next\n[next]\nb = 2\n`
  assert.deepEqual(find(text, path), { command: 'old', 'env.A': '1' })
  assert.equal(put(text, path, entry), `a = 1\n\n${own}\n# of the next\n[next]\nb = 2\n`)
  assert.equal(take(text, path), 'a = 1\n\n# of the next\n[next]\nb = 2\n')
})

test('other ways to write the same are seen and left alone', (t) => {
  const refused = (text: string) => golden.throws(t, () => put(text, path, entry))
  refused('[mcp_servers]\ntermaite = {}\n')
  refused('mcp_servers.termaite.command = "x"\n')
  refused('a = 1\nmcp_servers = { x = {} }\n')
  refused('[mcp_servers."termaite"]\na = 1\n[b]\n[mcp_servers.termaite.env]\n')
})

test('a text that is no TOML is refused with its line', (t) => {
  for (const text of [
    'a = 1\nb\n',
    'a = 1\n[x\n',
    'a = 1\nb = """\n',
    'a = 1\nb = [\n',
    "a = 1\nb = 'x\n",
    'a = 1\n[[x]\n',
    'a = 1\nb = ]\n',
  ])
    golden.throws(t, () => put(text, path, entry))
})
