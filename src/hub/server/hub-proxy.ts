import type { Resources } from '../../wire/mcp/tool-server.ts'
import type { Client } from '@modelcontextprotocol/client'
import type { Clock } from '../../base/time/clock.ts'
import type { Tool, ToolCall } from '../../core/work/tool.ts'
import type { Io } from '../../core/io.ts'
import type { HubPlaceNow } from '../client/hub-address.ts'
import type { RunKey } from './agent-key.ts'
import { fetchMessage } from '../../base/error-message.ts'
import { sayIfDebugging } from '../client/server-access.ts'
import { clientKey } from './agent-key.ts'
import { fetchFor } from '../../base/http/proxied-fetch.ts'
import { withKey } from '../client/hub-key-source.ts'
import { defined } from '../../base/defined.ts'
import { version } from '../../base/version.ts'

/** The longest time that a call may take at the hub. */
const longestMs = 300_000

/**
 * How long a call waits for an unreachable hub; a restart takes less. A tool that waits for work waits as long for the hub as for the
 * work.
 */
const awayMs = 20_000
const napMs = 500

/** How long the start waits for the hub's own list of tools, before it uses the list of this version. */
const listMs = 3_000

/**
 * Serves the hub's tools over stdin and stdout, for MCP clients that cannot use HTTP. The client keeps its tools while the hub is
 * unreachable: a call waits for the hub, reconnects if the hub was restarted, and says plainly if the hub does not come back.
 */
export async function serveProxy(io: Io, place: HubPlaceNow): Promise<void> {
  const key = clientKey(io, place)
  const link = new HubLink(place, key, io.clock)
  const tools = (await link.listTools(listMs)) ?? (await ownTools(io.clock))
  const passedOn = tools.map((tool): Tool => ({
    ...tool,
    risk: 'write',
    parse: (input) => input,
    run: (input, call) => link.call(tool, input as Record<string, unknown>, call),
  }))
  const [{ loadMcpLibrary, toolServer }, { serveMcpStdio }] = await Promise.all([
    import('../../wire/mcp/tool-server.ts'),
    import('../../wire/mcp/mcp-stdio.ts'),
  ])
  const make = toolServer(await loadMcpLibrary(), {
    name: 'termaite-hub',
    version,
    cwd: io.cwd,
    clock: io.clock,
    tools: passedOn,
    resources: link.resources(),
  })
  await serveMcpStdio(make, { in: io.in, out: io.out, signal: io.signal, trouble: sayIfDebugging(io) })
  await link.close()
  await key.end()
}

type ListedTool = Pick<Tool, 'name' | 'description' | 'schema'>

/** The tools for agents in this version of termaite, used if the hub cannot be asked. */
async function ownTools(clock: Clock): Promise<ListedTool[]> {
  const { hubTools } = await import('../engine/tools/hub-tools.ts')
  const { Hub } = await import('../engine/hub.ts')
  const nobody = { id: 'none', name: 'none', role: 'agent' } as const
  const { memoryHubLedger } = await import('../ledgers/sqlite/hub-ledger.ts')
  const hub = new Hub({ ledger: memoryHubLedger({ clock }), clock, published() {} })
  return hubTools(hub, clock, nobody).map(({ name, description, schema }) => ({ name, description, schema }))
}

/** A connection to the hub's MCP endpoint, which is made again whenever the hub no longer knows it. */
class HubLink {
  #place: HubPlaceNow
  #key: RunKey
  #clock: Clock
  #client: Promise<Client> | undefined

  constructor(place: HubPlaceNow, key: RunKey, clock: Clock) {
    this.#place = place
    this.#key = key
    this.#clock = clock
  }

  /** The hub's tools; undefined if it does not answer within `ms`. */
  async listTools(ms: number): Promise<ListedTool[] | undefined> {
    const listed = this.#connected().then((client) => client.listTools(undefined, { timeout: ms }))
    const late = new AbortController()
    const none = this.#clock.sleep(ms, late.signal).then(() => undefined)
    const answer = await Promise.race([listed.catch(() => undefined), none])
    late.abort()
    if (!answer) this.#drop()
    return answer?.tools.map(({ name, description = '', inputSchema }) => ({ name, description, schema: inputSchema }))
  }

  /** Calls a tool of the hub. If the connection broke, the call is repeated: the hub recognizes an agent's repeated call. */
  async call({ name, schema }: ListedTool, input: Record<string, unknown>, call: ToolCall): ReturnType<Tool['run']> {
    const began = this.#clock.elapsed()
    const patience = waits(schema) ? Number(input.timeout ?? longestMs / 1000) * 1000 : awayMs
    for (;;) {
      try {
        const client = await this.#connected()
        const passed = {
          signal: call.signal,
          timeout: longestMs,
          resetTimeoutOnProgress: true,
          onprogress: ({ message }: { message?: string }) => call.progress(message ?? ''),
        }
        const result = await client.callTool({ name, arguments: input }, passed)
        const text = result.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
        if (result.isError) throw new ToolRefused(text)
        return { text, data: result.structuredContent }
      } catch (error) {
        if (call.signal.aborted || error instanceof ToolRefused || (await isAnswer(error))) throw error
        this.#drop()
        const until = Math.min(began + patience, call.until)
        if (this.#clock.elapsed() + napMs >= until) throw new Error(this.#awayWords(error))
        call.progress(`waiting for the hub at ${this.#place().url}`)
        await this.#clock.sleep(napMs, call.signal)
      }
    }
  }

  /** The resources of the hub, such as the files of a task; empty while the hub is unreachable. */
  resources(): Resources {
    return {
      families: [],
      list: async () => {
        const client = await this.#connected().catch(() => undefined)
        const listed = await client?.listResources().catch(() => undefined)
        return (listed?.resources ?? []).map(({ uri, name, mimeType = 'text/plain', size }) =>
          defined({ uri, name, media: mimeType, bytes: size }),
        )
      },
      read: async (uri) => {
        const client = await this.#connected().catch(() => undefined)
        const [found] = (await client?.readResource({ uri }).catch(() => undefined))?.contents ?? []
        if (!found) return undefined
        const media = found.mimeType ?? 'text/plain'
        return 'blob' in found ? { media, blob: found.blob } : { media, text: found.text }
      },
    }
  }

  async close(): Promise<void> {
    const client = await this.#client?.catch(() => undefined)
    await client?.close().catch(() => {})
  }

  #connected(): Promise<Client> {
    this.#client ??= this.#connect().catch((error: unknown) => {
      this.#client = undefined
      throw error
    })
    return this.#client
  }

  async #connect(): Promise<Client> {
    const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
    const client = new Client({ name: 'termaite', version })
    const { url, env = {} } = this.#place()
    const send = fetchFor(env)
    const fetch = (to: string | URL, init?: RequestInit) =>
      withKey(
        this.#key,
        (key) => send(to, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), ...key } }),
        (unread) => unread.body?.cancel(),
      )
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { fetch }))
    return client
  }

  /** Forgets a connection that the hub no longer knows. */
  #drop(): void {
    const client = this.#client
    this.#client = undefined
    // The connection is broken already; closing it only frees its memory.
    void client?.then((open) => open.close()).catch(() => {})
  }

  #awayWords(error: unknown): string {
    return `The hub at ${this.#place().url} does not answer at the moment (${fetchMessage(error)}). Your work is safe. Wait a minute, then call this tool again.`
  }
}

/** Whether a tool itself waits, for as long as its caller says. */
const waits = ({ properties }: Tool['schema']) => typeof properties === 'object' && 'timeout' in (properties ?? {})

/** The hub answered, and its tool refused the call. */
class ToolRefused extends Error {}

/** Whether an error is an answer of the hub, for example about a wrong argument, and not a broken connection. */
async function isAnswer(error: unknown): Promise<boolean> {
  const { ProtocolError } = await import('@modelcontextprotocol/client')
  return error instanceof ProtocolError
}
