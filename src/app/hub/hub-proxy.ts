import { sayIfDebugging } from '../server-access.ts'
import type { Tool } from '../../core/work/tool.ts'
import type { Io } from '../../core/io.ts'
import type { HubPlace } from './hub-address.ts'
import { messageOf } from '../../base/error-message.ts'
import { UsageError } from '../../core/io.ts'
import { clientKey } from './agent-key.ts'
import { fetchWithKey } from './hub-key-source.ts'
import { version } from '../version.ts'

/** The longest time that a call may wait at the hub. */
const longestMs = 300_000

/** Serves the hub's tools over stdin and stdout, for MCP clients that cannot use HTTP. */
export async function serveProxy(io: Io, place: HubPlace): Promise<void> {
  const { url } = place
  const key = clientKey(io, place)
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
  const client = new Client({ name: 'termaite', version })
  const withKey = (to: string | URL, init?: RequestInit) => fetchWithKey(key, to, init)
  try {
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { fetch: withKey }))
  } catch (error) {
    throw new UsageError(
      `serve --stdio-proxy: no hub answers at ${url}: ${messageOf(error)}. Start one: termaite serve`,
      1,
    )
  }
  const { tools } = await client.listTools()
  const passedOn = tools.map(({ name, description = '', inputSchema }): Tool => ({
    name,
    description,
    schema: inputSchema,
    risk: 'write',
    parse: (input) => input,
    async run(input, call) {
      const patience = { signal: call.signal, timeout: longestMs, resetTimeoutOnProgress: true }
      const passed = { ...patience, onprogress: ({ message }: { message?: string }) => call.progress(message ?? '') }
      const result = await client.callTool({ name, arguments: input as Record<string, unknown> }, passed)
      const text = result.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
      if (result.isError) throw new Error(text)
      return { text, data: result.structuredContent }
    },
  }))
  const [{ loadMcpLibrary, noResources, toolServer }, { serveMcpStdio }] = await Promise.all([
    import('../../faces/mcp/tool-server.ts'),
    import('../../faces/mcp/mcp-stdio.ts'),
  ])
  const make = toolServer(await loadMcpLibrary(), {
    name: 'termaite-hub',
    version,
    cwd: io.cwd,
    clock: io.clock,
    tools: passedOn,
    resources: noResources,
  })
  await serveMcpStdio(make, { in: io.in, out: io.out, signal: io.signal, trouble: sayIfDebugging(io) })
  await client.close()
  await key.end()
}
