import type { ServerStatus } from '../../../../src/native/tools/mcp/server-status.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mcpText, mcpToolsText } from '../../../../src/native/tools/mcp/server-status.ts'
import { goldenOf } from '../../../golden.ts'

const golden = goldenOf(import.meta.filename)

const server = (part: Partial<ServerStatus>): ServerStatus => ({
  ...{ name: 'one', from: '.mcp.json', at: 'uvx one ${TOKEN}', state: 'ready', tools: [], direct: true, output: '' },
  ...part,
})

const tool = (name: string, description = '') => ({ name: `mcp__one__${name}`, tool: name, description })

test('/mcp shows the state of each server and its fault', (t) => {
  const tools = [tool('a'), tool('b')]
  const servers = [
    server({ protocol: '2026-07-28', speaker: 'One 1.0', tools, output: 'chatter' }),
    server({ name: 'two', tools: [tool('a')] }),
    server({ name: 'three', state: 'starting', from: 'settings' }),
    server({ name: 'four', state: 'waiting', why: 'it ended with 1', next: 5_000, output: 'a\nb\nc\nd\ne\nf' }),
    server({ name: 'five', state: 'login', at: 'https://five.example' }),
    server({ name: 'six', state: 'failed', why: 'no such program' }),
  ]
  golden(t, mcpText({ servers, warnings: ['.mcp.json is not used, because this folder is not trusted.'] }, 1_500))
})

test('/mcp tools groups them by server', () => {
  const long = 'x'.repeat(200)
  const servers = [
    server({ tools: [tool('a', 'Does a.'), tool('b', long)] }),
    server({ name: 'two', direct: false, tools: [tool('c')] }),
    server({ name: 'three', state: 'failed', why: 'no such program' }),
  ]
  assert.equal(
    mcpToolsText({ servers, warnings: [] }, 0),
    `one  connected, 2 tools
  mcp__one__a  Does a.
  mcp__one__b  ${'x'.repeat(99)}…

two  connected, 1 tool; described on demand
  mcp__one__c

three  failed: no such program`,
  )
})

test('without any server, the text says where one is configured', (t) => {
  golden(t, mcpText({ servers: [], warnings: [] }, 0))
  golden(t, mcpToolsText({ servers: [], warnings: [] }, 0))
})
