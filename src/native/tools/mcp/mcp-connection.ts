import type { Env } from '../../../base/env.ts'
import { fetchFor } from '../../../base/http/proxied-fetch.ts'
import type { Client, Transport } from '@modelcontextprotocol/client'
import type { Clock } from '../../../base/time/clock.ts'
import type { ServerConfig } from './server-config.ts'
import type { ServerLogin } from './server-login.ts'
import type { Enclose, ServerOutput } from './stdio-transport.ts'
import type { ActiveCall } from './elicitation.ts'
import { pathToFileURL } from 'node:url'
import { StdioTransport } from './stdio-transport.ts'
import { elicit } from './elicitation.ts'
import { isRefusal } from './server-faults.ts'
import { never } from './activity-timeout.ts'

export type ConnectionParts = {
  root: string
  env: Env
  clock: Clock
  version: string
  errors: ServerOutput
  enclose?: Enclose
  /** Signs requests to a server that requires a login. */
  login?: ServerLogin
  /** The last call that is still waiting: the server's questions go to its caller. */
  asked(): ActiveCall | undefined
  /** Called when the server says that one of its lists has changed. */
  listChanged(kind: 'tools' | 'resources' | 'prompts'): void
  signal: AbortSignal
}

/** An open connection to a server. */
export type Connection = {
  client: Client
  transport: Transport
  /** Aborts when the connection is lost. */
  lost: AbortSignal
  close(): Promise<void>
}

type Library = Awaited<ReturnType<typeof sdk>>

/** Which protocol to offer a server: the old one, a pinned new one, or the new one and then the old one. */
type Mode = 'legacy' | 'auto' | { pin: string }

const modern = '2026-07-28'

/**
 * Over HTTP the new protocol is tried first, which costs one request. A process is first offered the old protocol, which nearly all
 * servers support, new ones included: the new protocol makes some old servers exit and others fall silent. A server that refuses the old
 * protocol is restarted and offered the new one.
 */
function modesOf(config: ServerConfig): Mode[] {
  if (config.kind === 'http') return ['auto']
  return config.kind === 'sse' ? ['legacy'] : ['legacy', { pin: modern }]
}

export async function connect(config: ServerConfig, parts: ConnectionParts): Promise<Connection> {
  const modes = modesOf(config)
  for (let tried = 0; ; tried++) {
    try {
      return await attempt(config, modes[tried]!, parts)
    } catch (error) {
      if (!isRefusal(error) || tried + 1 >= modes.length || parts.signal.aborted) throw error
    }
  }
}

async function attempt(config: ServerConfig, mode: Mode, parts: ConnectionParts): Promise<Connection> {
  const library = await sdk()
  const transport = transportOf(config, library, parts)
  const told = (kind: 'tools' | 'resources' | 'prompts') => ({
    autoRefresh: false as const,
    onChanged: () => parts.listChanged(kind),
  })
  const client = new library.Client(
    { name: 'termaite', version: parts.version },
    {
      capabilities: { roots: {}, elicitation: { form: { applyDefaults: true }, url: {} } },
      versionNegotiation: { mode },
      listChanged: { tools: told('tools'), resources: told('resources'), prompts: told('prompts') },
    },
  )
  const root = { uri: pathToFileURL(parts.root).href, name: 'project' }
  client.setRequestHandler('roots/list', () => ({ roots: [root] }))
  client.setRequestHandler('elicitation/create', (request) => elicit(config.name, request.params, parts.asked()))
  client.fallbackRequestHandler = async (request) => {
    throw new library.ProtocolError(
      library.ProtocolErrorCode.MethodNotFound,
      request.method === 'sampling/createMessage'
        ? 'termaite does not let servers use its model; please answer without it'
        : `termaite does not know ${request.method}`,
    )
  }
  const lost = new AbortController()
  client.onclose = () => lost.abort()
  const stop = () => {
    transport.close().catch(() => {})
  }
  parts.signal.addEventListener('abort', stop, { once: true })
  try {
    parts.signal.throwIfAborted()
    await client.connect(transport, { signal: parts.signal, timeout: never })
    return { client, transport, lost: lost.signal, close: () => closeBoth(client, transport) }
  } catch (error) {
    await transport.close().catch(() => {})
    throw error
  } finally {
    parts.signal.removeEventListener('abort', stop)
  }
}

/** The SDK's client does not wait for its transport to close; this does, so that no process is left. */
async function closeBoth(client: Client, transport: Transport): Promise<void> {
  await client.close().catch(() => {})
  await transport.close().catch(() => {})
}

function transportOf(config: ServerConfig, library: Library, parts: ConnectionParts): Transport {
  if (config.kind === 'stdio') return new StdioTransport(config, parts.env, parts.clock, parts.errors, parts.enclose)
  const url = new URL(config.url)
  const options = {
    requestInit: { headers: config.headers },
    authProvider: parts.login?.provider(),
    fetch: fetchFor(parts.env),
  }
  const transport =
    config.kind === 'sse'
      ? new library.SSEClientTransport(url, options)
      : new library.StreamableHTTPClientTransport(url, options)
  if (parts.login) parts.login.finish = (answer) => transport.finishAuth(answer)
  return transport
}

let loaded: Promise<typeof import('@modelcontextprotocol/client')> | undefined

/** Loads the SDK with the first server: importing it takes longer than the rest of a start. */
function sdk(): Promise<typeof import('@modelcontextprotocol/client')> {
  loaded ??= (hush(), import('@modelcontextprotocol/client'))
  return loaded
}

/** Drops the SDK's console warnings: they would be printed onto the chat's screen, with text that servers chose. */
function hush(): void {
  const warn = console.warn
  console.warn = (...words: unknown[]) => {
    if (!String(words[0]).startsWith('[mcp-sdk]')) warn.apply(console, words)
  }
}
