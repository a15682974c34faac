import type { HubLedger } from '../../core/work/hub-ledger.ts'
import type { Io } from '../../core/io.ts'
import type { HubCaller } from '../../core/work/hub-key.ts'
import type { HubKeys } from '../../hub/hub-keys.ts'
import type { Hub } from '../../hub/hub.ts'
import type { SignIns } from '../../hub/sign-ins.ts'
import type { ChangeFeed } from '../../faces/hub/change-feed.ts'
import type { HubServerOptions } from '../../faces/hub/hub-http.ts'
import { messageOf } from '../../base/error-message.ts'
import { sourcePath } from '../../base/source-text.ts'
import { openIndex } from '../../store/index/conversation-index.ts'
import { fileHubLedger, LedgerTaken } from '../../store/hub-ledger.ts'
import { say, UsageError, print, voiceOf } from '../../core/io.ts'
import { version } from '../version.ts'
import { borderOf } from '../border.ts'
import { messageTool } from '../vendor-border.ts'
import { pageLink } from '../dashboard/page-link.ts'
import { keptConversations } from '../dashboard/kept-conversations.ts'
import { PeerTurns } from '../dashboard/peer-turns.ts'
import { peerPlaces } from '../peers.ts'
import { homeOf } from '../place.ts'
import { noteProcess } from '../running-processes.ts'
import { ledgerIn } from './hub-address.ts'
import { once } from 'node:events'
import { hostname } from 'node:os'
import { sayIfDebugging, isLoopback, ownHubKey } from '../server-access.ts'

export type OpenHub = { hub: Hub; keys: HubKeys; signIns: SignIns; changes: ChangeFeed; close(): Promise<void> }

/** Tells a model what its tools are for; they are those of its key's role. */
function instructionsFor({ name, role }: HubCaller): string {
  if (role === 'observer') return `The hub of termaite. Your key (${name}) reads tasks and agents and changes nothing.`
  if (role !== 'agent') return 'The hub of termaite. To give work to an agent, call assign_task, then wait_for_task.'
  return `The hub of termaite, where your name is ${name}. To work: call register_agent, then wait_for_prompt again and again. Acknowledge each task that you get with ack_task, do the work, and answer with send_response.`
}

/** A running hub over its ledger, until it is closed. */
export async function openHub(io: Io, home: string): Promise<OpenHub> {
  const [{ Hub }, { HubKeys }, { SignIns }, { ChangeFeed }] = await Promise.all([
    import('../../hub/hub.ts'),
    import('../../hub/hub-keys.ts'),
    import('../../hub/sign-ins.ts'),
    import('../../faces/hub/change-feed.ts'),
  ])
  const ledger = openLedger(io, home)
  const keys = new HubKeys({ book: ledger.keys, own: ownHubKey(io, home), clock: io.clock })
  const signIns = new SignIns({ book: ledger.signIns, clock: io.clock })
  const changes = new ChangeFeed(ledger)
  const hub = new Hub({ ledger, clock: io.clock, published: () => changes.notify() })
  const stop = new AbortController()
  const running = hub.run(stop.signal)
  return {
    hub,
    keys,
    signIns,
    changes,
    async close() {
      stop.abort()
      await running
      ledger.close()
    },
  }
}

function openLedger(io: Io, home: string): HubLedger {
  try {
    return fileHubLedger(ledgerIn(home), voiceOf(io))
  } catch (error) {
    if (!(error instanceof LedgerTaken)) throw error
    throw new UsageError(`a hub already runs on ${home}; \`termaite ps\` shows it.`, 1)
  }
}

/** Makes the HTTP routes, the change feed and the MCP endpoint of a hub. */
async function hubParts(
  io: Io,
  { hub, keys, signIns, changes }: OpenHub,
): Promise<Pick<HubServerOptions, 'keys' | 'signIns' | 'routes' | 'changes' | 'mcp' | 'page' | 'turns'>> {
  const [{ hubRoutes }, { PageFiles }, { hubTools }, { mcpEndpoint }, { loadMcpLibrary, noResources, toolServer }] =
    await Promise.all([
      import('../../faces/hub/hub-routes.ts'),
      import('../../faces/web/page-files.ts'),
      import('../../hub/hub-tools.ts'),
      import('../../faces/mcp/mcp-http.ts'),
      import('../../faces/mcp/tool-server.ts'),
    ])
  const library = await loadMcpLibrary()
  const mask = borderOf(io.env, homeOf(io.env)).toward('hub')
  const serverFor = (caller: HubCaller) =>
    toolServer(library, {
      name: 'termaite-hub',
      version,
      instructions: instructionsFor(caller),
      cwd: io.cwd,
      clock: io.clock,
      tools: hubTools(hub, io.clock, caller).map((tool) => messageTool(tool, mask)),
      resources: noResources,
    })()
  // A client that hangs up cancels its wait, so that no task is given to a connection that is gone.
  const manner = { ownerOf: ({ id }: HubCaller) => id, hangUpCancels: true }
  const turns = machineTurns(io, mask)
  const conversations = keptConversations({ open: () => openIndex(homeOf(io.env), voiceOf(io)), mask })
  const mcp = mcpEndpoint(library, serverFor, sayIfDebugging(io), manner)
  return {
    keys,
    signIns,
    routes: hubRoutes(hub, { keys, signIns }, io.clock, { turns, conversations }),
    changes,
    mcp,
    turns,
    page: new PageFiles(sourcePath('page')),
  }
}

/** The turns of this machine, of all processes of this home. */
function machineTurns({ env, clock }: Io, mask: (text: string) => string): PeerTurns {
  const home = homeOf(env)
  return new PeerTurns({ machine: hostname(), clock, mask, find: () => peerPlaces(home, clock) })
}

/** The person at this machine, who starts the hub. */
const person = { id: 'own', name: 'user', role: 'admin' } as const

export type HubAddressOptions = { host: string; port: number; publicUrl?: string }

/** Serves the hub at its address until the process is ended. */
export async function serveUntilEnded(
  io: Io,
  home: string,
  { host, port, publicUrl }: HubAddressOptions,
): Promise<void> {
  const publicName = publicUrl === undefined ? undefined : publicNameOf(publicUrl)
  if (!isLoopback(host))
    throw new UsageError(
      `--host: ${host} can be reached from the network, and plain HTTP would show the key to it. Serve on 127.0.0.1 behind a proxy with TLS, and name the proxy: --public-url https://…`,
    )
  const open = await openHub(io, home)
  try {
    await serve(io, home, open, { host, port, publicName, publicUrl })
  } finally {
    await open.close()
  }
}

async function serve(
  io: Io,
  home: string,
  open: OpenHub,
  at: { host: string; port: number; publicName?: string; publicUrl?: string },
): Promise<void> {
  const { serveHub } = await import('../../faces/hub/hub-http.ts')
  const listening = await serveHub({ ...at, clock: io.clock, ...(await hubParts(io, open)) }).catch((error) => {
    throw new UsageError(`serve: ${at.host}:${at.port} cannot be served: ${messageOf(error)}.`, 1)
  })
  const unnote = noteProcess(home, { process: 'hub', url: listening.url }, io.clock)
  print(io, listening.url)
  say(
    io,
    `MCP: ${listening.url}/mcp · a key for each client: termaite hub keys add <name> · Ctrl+C ends the hub, and nothing is lost.`,
  )
  // A secret in a log would outlive its use, so the link is told to a terminal alone.
  if (io.err.isTTY) {
    const { secret } = open.signIns.makeLink({ role: 'admin' }, person)
    const page = pageLink((at.publicUrl ?? listening.url).replace(/\/+$/, ''), secret)
    say(io, `Dashboard: ${page}\nThe link signs one browser in, within ten minutes. Another one: termaite dashboard`)
  }
  if (!io.signal.aborted) await once(io.signal, 'abort')
  unnote()
  await listening.close()
}

function publicNameOf(url: string): string {
  const parsed = URL.parse(url)
  if (parsed?.protocol !== 'https:')
    throw new UsageError(
      `--public-url: found "${url}", allowed: the https:// address of the proxy in front of the hub.`,
    )
  return parsed.hostname
}
