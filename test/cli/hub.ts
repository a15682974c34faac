import type { TestContext } from 'node:test'
import type { Machine } from './program.ts'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { HubClient } from '../../src/hub/client/hub-client.ts'

/** The hub in a process of its own, at an address of its own; `more` are further options, `env` further variables. */
export async function startedHub(
  t: TestContext,
  machine: Machine,
  port = '0',
  more: readonly string[] = [],
  env: Record<string, string> = {},
) {
  const child = machine.start(['serve', '--port', port, ...more], { env })
  t.after(() => child.kill('SIGKILL'))
  const ended = once(child, 'exit').then(() => ({ value: undefined }))
  const { value: url } = await Promise.race([createInterface(child.stdout!)[Symbol.asyncIterator]().next(), ended])
  assert.ok(url, 'the hub did not start')
  const key = readFileSync(join(machine.home, 'hub.key'), 'utf8').trim()
  const hub = new HubClient({ url, key })
  /** A client with an agent's key of its own. */
  const agent = async (name: string) => new HubClient({ url, key: (await hub.lend(name)).secret })
  return { child, url, key, env: { TERMAITE_HUB: url }, hub, agent }
}

/** An MCP client of the hub with this key. */
export async function mcpClient(t: TestContext, url: string, key: string) {
  // Few users of this file need the library.
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
  const client = new Client({ name: 'a client', version: '1' })
  const requestInit = { headers: { authorization: `Bearer ${key}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }))
  t.after(() => client.close())
  return {
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name: string, input: Record<string, unknown>) => {
      const { content, isError = false, structuredContent } = await client.callTool({ name, arguments: input })
      const [part] = content
      return { isError, said: part?.type === 'text' ? part.text : '', data: structuredContent as any }
    },
  }
}
