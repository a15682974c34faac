import assert from 'node:assert/strict'
import fc from '../../../cases.ts'
import { test } from 'node:test'
import { toolName, toolNames } from '../../../../src/native/tools/mcp/mcp-tools.ts'

test('a tool is called by its server and its own name, as far as a provider allows', () => {
  assert.equal(toolName('github', 'create_issue'), 'mcp__github__create_issue')
  assert.equal(toolName('my server', 'a.b/c-D'), 'mcp__my_server__a_b_c-D')
  assert.equal(toolName('ü', ''), 'mcp______')
})

test('no two tools have one name, and every name is one that a provider takes', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string()), fc.uniqueArray(fc.string({ maxLength: 90 })), (servers, tools) => {
      const taken = new Set<string>()
      const names = servers.flatMap((server) => [...toolNames(server, tools, taken).values()])
      assert.equal(new Set(names).size, servers.length * tools.length)
      for (const name of names) assert.match(name, /^mcp__[A-Za-z0-9_-]{1,59}$/)
    }),
  )
})
