/**
 * The client that the MCP conformance suite drives; the suite adds the address of its server and names the scenario in the
 * environment:
 *
 *   conformance client --command "node test/real/mcp-client.ts" --requirements 2026-07-28
 */
import type { ServerConfig } from '../../src/native/tools/mcp/server-config.ts'
import type { ToolCall } from '../../src/core/work/tool.ts'
import type { Question } from '../../src/core/talk/question.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { secretsInMemory } from '../native/tools/mcp/memory-logins.ts'
import { openServers } from '../../src/native/tools/mcp/remote-servers.ts'
import { mcpText } from '../../src/native/tools/mcp/server-status.ts'

type Context = {
  client_id?: string
  client_secret?: string
  toolCalls?: { name: string; arguments: Record<string, unknown> }[]
}

const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}') as Context
const url = process.argv.at(-1)!
const registered = {
  ...(context.client_id ? { clientId: context.client_id } : {}),
  ...(context.client_secret ? { clientSecret: context.client_secret } : {}),
}
const server: ServerConfig = {
  ...{ name: 'suite', from: 'settings', shown: url, timeoutSeconds: 100, kind: 'http', url, headers: {} },
  oauth: { clientMetadataUrl: 'https://conformance-test.local/client-metadata.json', ...registered },
}

/** The suite's pages grant at once and redirect: following them takes the place of a browser. */
const browse = async (page: string) => void (await (await fetch(page)).text())

const call: ToolCall = {
  cwd: process.cwd(),
  signal: new AbortController().signal,
  // The answers leave everything as it is where they can; a login is always wanted.
  ask: async ({ options, multiple, marked }: Question) =>
    multiple
      ? [...(marked ?? [])]
      : [(options.find(({ id }) => id === 'open' || id === 'termaite:skip') ?? options[0]!).id],
  progress() {},
  consult: async () => ({ ok: false, failure: { kind: 'crash', message: 'nobody is there' } }),
  until: Number.MAX_SAFE_INTEGER,
}

const open = openServers(
  { servers: [server], warnings: [] },
  {
    ...{ root: process.cwd(), env: {}, clock: realClock, version: '0.0.0', browse },
    ...{ blobs: memoryStore().blobs('output'), secrets: secretsInMemory() },
  },
)
let failed = false
try {
  await open.settled(call.signal)
  // A server that moved to another issuer asks once more.
  for (let logins = 0; logins < 2 && open.status().servers[0]!.state === 'login'; logins++)
    await open.login('suite', browse, call.signal)
  const tools = open.tools().filter(({ name }) => name.startsWith('mcp__'))
  const calls =
    context.toolCalls?.map(({ name, arguments: input }) => ({ name: `mcp__suite__${name}`, input })) ??
    tools.map(({ name, schema }) => ({ name, input: sample(schema) }))
  for (const { name, input } of calls) {
    const tool = open.find(name)
    if (!tool) continue
    const output = await tool.run(tool.parse(input), call).catch((error: Error) => `! ${error.message}`)
    console.log(name, typeof output === 'string' ? output : output.text)
  }
  console.log(mcpText(open.status(), Date.now()))
  failed = open.status().servers[0]!.state !== 'ready'
} catch (error) {
  console.log(error)
  failed = true
}
await open.close()
process.exit(failed ? 1 : 0)

/** An input that fits the schema, of the plainest values. */
function sample(schema: Record<string, unknown>): Record<string, unknown> {
  const plain: Record<string, unknown> = { number: 2, integer: 2, boolean: true, array: [], object: {} }
  const properties = Object.entries((schema.properties ?? {}) as Record<string, { type?: string }>)
  return Object.fromEntries(properties.map(([name, { type }]) => [name, plain[type ?? ''] ?? 'x']))
}
