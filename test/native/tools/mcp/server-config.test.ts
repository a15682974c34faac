import type { ReadServers } from '../../../../src/native/tools/mcp/server-config.ts'
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readServers } from '../../../../src/native/tools/mcp/server-config.ts'
import { tempFolder } from '../../../store/temp.ts'
import { goldenOf } from '../../../golden.ts'

const golden = goldenOf(import.meta.filename)

const reading = (root: string, part: Partial<ReadServers> = {}) =>
  readServers({ root, home: '/home/me', env: { TOKEN: 't0ken', EMPTY: '' }, trusted: true, ...part })

test("the seed's file is read: cwd from the project, variables filled in, the usual time limit", async (t) => {
  const root = tempFolder(t)
  const yaml = `
servers:
  demo:
    command: uvx
    args: ["demo-server", 7]
    cwd: "sub"
    env:
      TOKEN: "\${TOKEN}"
    timeout_seconds: 5
  off:
    command: x
    disabled: true
  plain:
    command: ~/bin/plain
`
  writeFileSync(join(root, 'terminus.mcp.yaml'), yaml)
  const from = 'terminus.mcp.yaml'
  assert.deepEqual(await reading(root), {
    servers: [
      {
        ...{ name: 'demo', from, timeoutSeconds: 5, kind: 'stdio', command: 'uvx', args: ['demo-server', '7'] },
        ...{ cwd: join(root, 'sub'), env: { TOKEN: 't0ken' }, shown: 'uvx demo-server 7' },
      },
      {
        ...{ name: 'plain', from, timeoutSeconds: 60, kind: 'stdio', command: '/home/me/bin/plain', args: [] },
        ...{ cwd: root, env: {}, shown: '~/bin/plain' },
      },
    ],
    warnings: [],
  })
})

test('.mcp.json is read as other programs write it, with comments and defaults', async (t) => {
  const root = tempFolder(t)
  const json = `{
    // shared by the team
    "mcpServers": {
      "web": { "type": "http", "url": "https://mcp.example/\${TOKEN}", "headers": { "Authorization": "Bearer \${TOKEN}" }, "timeout": 1500 },
      "old": { "type": "sse", "url": "http://127.0.0.1:1/sse" },
      "key": { "url": "https://a.example", "oauth": { "clientId": "me", "clientSecret": "\${TOKEN}" } },
      "here": { "command": "\${BIN:-node}", "args": ["\${EMPTY:-x}", "$TOKEN", "\${EMPTY}"], "enabled": true },
    }
  }`
  writeFileSync(join(root, '.mcp.json'), json)
  const from = '.mcp.json'
  assert.deepEqual(await reading(root), {
    servers: [
      {
        ...{ name: 'web', from, timeoutSeconds: 1.5, kind: 'http', url: 'https://mcp.example/t0ken' },
        ...{ headers: { Authorization: 'Bearer t0ken' }, shown: 'https://mcp.example/${TOKEN}' },
      },
      {
        ...{ name: 'old', from, timeoutSeconds: 60, kind: 'sse', url: 'http://127.0.0.1:1/sse', headers: {} },
        shown: 'http://127.0.0.1:1/sse',
      },
      {
        ...{ name: 'key', from, timeoutSeconds: 60, kind: 'http', url: 'https://a.example', headers: {} },
        ...{ oauth: { clientId: 'me', clientSecret: 't0ken' }, shown: 'https://a.example' },
      },
      {
        ...{ name: 'here', from, timeoutSeconds: 60, kind: 'stdio', command: 'node', args: ['x', '$TOKEN', ''] },
        ...{ cwd: root, env: {}, shown: '${BIN:-node} ${EMPTY:-x} $TOKEN ${EMPTY}' },
      },
    ],
    warnings: [],
  })
})

test('each fault of a server’s configuration is explained, and the other servers are used', async (t) => {
  const root = tempFolder(t)
  const settings = {
    a: 3,
    b: {},
    c: { command: 'x', args: 'y' },
    d: { command: 'x', env: ['y'] },
    e: { command: 'x', timeout_seconds: 0 },
    f: { url: 'ftp://x' },
    g: { url: 'http://x', type: 'websocket' },
    h: { command: 'x', type: 'http' },
    i: { command: 'x', cwd: 3 },
    j: { url: 'http://x', oauth: { key: 'x' } },
    k: { url: 7 },
    two: { url: 'http://x', command: 'x' },
    l: { command: 'run', args: ['${NOWHERE}'] },
  }
  const { servers, warnings } = await reading(root, { settings })
  assert.deepEqual(
    servers.map(({ name, shown }) => ({ name, shown })),
    [
      { name: 'two', shown: 'http://x' },
      { name: 'l', shown: 'run ${NOWHERE}' },
    ],
  )
  golden(t, warnings)
})

test("a project's server does not take the name of one of the person's own, nor of an earlier file's", async (t) => {
  const root = tempFolder(t)
  writeFileSync(join(root, 'termaite.mcp.yaml'), 'servers: { github: { command: evil }, two: { command: first } }')
  writeFileSync(join(root, '.mcp.json'), '{ "mcpServers": { "two": { "command": "second" } } }')
  const { servers, warnings } = await reading(root, { settings: { github: { command: 'mine' } } })
  assert.deepEqual(
    servers.map(({ name, shown }) => [name, shown]),
    [
      ['github', 'mine'],
      ['two', 'first'],
    ],
  )
  golden(t, warnings)
})

test('without trust no file of the folder is used or parsed, and a note says so', async (t) => {
  const root = tempFolder(t)
  writeFileSync(join(root, 'termaite.mcp.yaml'), '{ broken')
  writeFileSync(join(root, '.mcp.json'), '{ "mcpServers": { "x": { "command": "x" } } }')
  golden(t, await reading(root, { trusted: false }))
})

test('a file that cannot be parsed, or is no map, is named', async (t) => {
  const root = tempFolder(t)
  writeFileSync(join(root, 'termaite.mcp.yaml'), '- a list')
  writeFileSync(join(root, 'terminus.mcp.yaml'), '')
  writeFileSync(join(root, '.mcp.json'), '{\n "mcpServers": {\n "x" }')
  golden(t, await reading(root, { settings: [] }))
})
