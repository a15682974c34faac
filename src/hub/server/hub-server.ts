import type { HubChange } from '../model/hub-ledger.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Io } from '../../core/io.ts'
import type { MachinesAtWork } from '../model/machine-work.ts'
import type { HubBook } from '../model/hub-book.ts'
import type { Task } from '../model/tasks/task.ts'
import type { HubCaller } from '../model/access/hub-key.ts'
import type { AuditTrail } from '../engine/audit-trail.ts'
import type { HubKeys } from '../engine/access/hub-keys.ts'
import type { Hub } from '../engine/hub.ts'
import type { HubTool } from '../engine/access/hub-tool.ts'
import type { Settings } from '../../settings/settings.ts'
import type { QrWish } from './dashboard/page-qr.ts'
import type { HubNotices } from './hub-notices.ts'
import type { LedgerPlace } from './open-ledger.ts'
import type { SpendingCaps } from '../model/tasks/spending-cap.ts'
import type { Invites } from '../engine/access/invites.ts'
import type { SignIns } from '../engine/access/sign-ins.ts'
import type { HubVitals } from '../model/tasks/hub-vitals.ts'
import type { ChangeFeed } from '../http/routes/change-feed.ts'
import type { HubParts } from '../http/hub-http.ts'
import type { ServedAddress, WishedAddress } from './served-address.ts'
import { defined } from '../../base/defined.ts'
import { messageOf } from '../../base/error-message.ts'
import { errorCode } from '../../base/files/files.ts'
import { wordWrapped } from '../../base/text/word-wrap.ts'
import { sourcePath } from '../../base/source-text.ts'
import { auditBounds } from '../model/access/hub-audit.ts'
import { fileHubAudit } from '../ledgers/sqlite/file-audit.ts'
import { say, UsageError, print, voiceOf } from '../../core/io.ts'
import { version } from '../../base/version.ts'
import { borderOf } from '../../border/border.ts'
import { messageTool } from '../../border/vendor-border.ts'
import { pageLink } from '../client/page-link.ts'
import { showQr } from './dashboard/page-qr.ts'
import { homeOf } from '../../home/place.ts'
import { noteProcess } from '../../border/running-processes.ts'
import { readSettings } from '../../settings/settings.ts'
import { auditIn, usualHub } from '../client/hub-address.ts'
import { retentionTime } from './retention-time.ts'
import { ledgerPlace, openLedger } from './open-ledger.ts'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { sayIfDebugging, ownHubKey } from '../client/server-access.ts'
import { addressesOf, servedAddress } from './served-address.ts'

type OpenHub = {
  hub: Hub
  keys: HubKeys
  signIns: SignIns
  invites: Invites
  changes: ChangeFeed
  vitals: HubVitals
  trail: AuditTrail
  /** The clock of the ledger. */
  clock: Clock
  /** The address book that this hub shares with the other hubs of its ledger. */
  book?: HubBook
  /** Provides the machines that can be asked to merge, once the hub knows them. */
  useMachines(all: MachinesAtWork): void
  close(): Promise<void>
}

/** Tells a model what its tools are for; which tools it has depends on the role of its key. */
function instructionsFor({ name, role }: HubCaller): string {
  if (role === 'observer') return `The hub of termaite. Your key (${name}) reads tasks and agents and changes nothing.`
  const delegates =
    'To give work to an agent, call assign_task, then wait_for_task; add_pipeline adds several tasks that need each other.'
  const works =
    'To work: call register_agent, then wait_for_prompt again and again. Acknowledge each task that you get with ack_task, do the work, and answer with send_response.'
  if (role === 'agent') return `The hub of termaite, where your name is ${name}. ${works}`
  return `The hub of termaite. ${delegates}${role === 'admin' ? ` ${works}` : ''}`
}

type OpenWishes = {
  place: LedgerPlace
  caps?: SpendingCaps
  told?(changes: readonly HubChange[]): void
  /** For how many days the acts of clients are kept. */
  auditDays?: number
  /** How long finished tasks are kept after they were last touched; if missing, forever. */
  keepFinishedMs?: number
  /** How many changes are kept for followers that fall behind. */
  keepChanges?: number
}

/** A running hub with its ledger, until it is closed. */
async function openHub(io: Io, home: string, { place, caps, told, ...wish }: OpenWishes): Promise<OpenHub> {
  const [
    { Hub },
    { AuditTrail },
    { CountedVitals },
    { HubKeys },
    { Invites },
    { SignIns },
    { ChangeFeed },
    ...merging
  ] = await Promise.all([
    import('../engine/hub.ts'),
    import('../engine/audit-trail.ts'),
    import('../engine/counted-vitals.ts'),
    import('../engine/access/hub-keys.ts'),
    import('../engine/access/invites.ts'),
    import('../engine/access/sign-ins.ts'),
    import('../http/routes/change-feed.ts'),
    import('./merge/work-merge.ts'),
    import('./merge/fleet-merge.ts'),
    import('../engine/texts/work-bundles.ts'),
    import('../engine/task-reviews.ts'),
  ])
  const [{ machineMerger }, { fleetMerger }, { WorkBundles }, { tryOf }] = merging
  const ledger = await openLedger(io, home, place, wish.keepChanges)
  // Keys, invitations, sign-ins and acts use the time of the ledger, like tasks, because the clocks of hubs that share it differ.
  const { clock } = ledger
  const keys = new HubKeys({ book: ledger.keys, own: ownHubKey(io, home), clock, invites: ledger.invites })
  const invites = new Invites({ book: ledger.invites, keys, clock })
  const signIns = new SignIns({ book: ledger.signIns, clock })
  const changes = new ChangeFeed(ledger)
  // Another hub may have made the change.
  const quiet = ledger.listen(() => changes.notify())
  const tell = (words: string) => say(io, `termaite: ${words}`)
  const published = (made: readonly HubChange[]) => {
    vitals.see(made)
    told?.(made)
  }
  const mask = borderOf(io.env, home).toward('hub')
  const bundles = async function* (id: string, number: number, from: number) {
    const { bundle } = tryOf(await hub.task(id), number)
    if (bundle) yield* new WorkBundles(hub.texts).read(bundle, from)
  }
  let machines: MachinesAtWork | undefined
  const merger = fleetMerger(machineMerger(io, bundles), () => machines)
  const vitals = new CountedVitals(ledger, () => hub.waitingAgents, tell)
  const woke = (ms: number) => vitals.woke(ms)
  const failed = (error: unknown) => vitals.seeError(error)
  const { keepFinishedMs } = wish
  const hub: Hub = new Hub(defined({ ledger, clock, published, caps, mask, merger, woke, failed, keepFinishedMs }))
  await hub.settle().catch(async (error: unknown) => {
    await ledger.close()
    throw error
  })
  const bounds = { ...auditBounds, days: wish.auditDays ?? auditBounds.days }
  const book = ledger.audit?.(bounds) ?? fileHubAudit(auditIn(home), voiceOf(io), bounds)
  const trail = new AuditTrail({ book, clock, tell })
  const stop = new AbortController()
  const running = hub.run(stop.signal)
  return {
    hub,
    keys,
    signIns,
    invites,
    changes,
    vitals,
    trail,
    clock,
    book: ledger.book,
    useMachines: (all) => (machines = all),
    async close() {
      stop.abort()
      await running
      quiet()
      await trail.close()
      await ledger.close()
    },
  }
}

/** Makes the HTTP routes, the change feed and the MCP endpoint of a hub. */
async function hubParts(
  io: Io,
  { hub, keys, signIns, invites, changes, vitals, trail, clock, book, useMachines }: OpenHub,
  at: ServedAt,
): Promise<Omit<HubParts, 'clock' | keyof ServedAddress> & { run(): Promise<void> }> {
  const [
    { hubRoutes },
    { agentStandings },
    { PageFiles },
    { hubTools, lackedTools },
    { mcpEndpoint },
    { attachmentResources },
    { loadMcpLibrary, toolServer },
    { hubMachines },
  ] = await Promise.all([
    import('../http/hub-routes.ts'),
    import('../engine/agent-standings.ts'),
    import('../../page/page-files.ts'),
    import('../engine/tools/hub-tools.ts'),
    import('../../wire/mcp/mcp-http.ts'),
    import('../http/attachment-resources.ts'),
    import('../../wire/mcp/tool-server.ts'),
    import('./link/joined-machines.ts'),
  ])
  const library = await loadMcpLibrary()
  const mask = borderOf(io.env, homeOf(io.env)).toward('hub')
  const identify = async (path: string, machine: string | undefined) => {
    if ((machine ?? hostname()) !== hostname() || !existsSync(path)) return undefined
    const { keysAt } = await import('./merge/own-workspaces.ts')
    return (await keysAt(io, path, usualHub)).workspaces
  }
  const handedIn = async (task: Task, commit: string) => {
    const { handedInWork } = await import('./merge/work-merge.ts')
    return handedInWork(io, task, commit)
  }
  const guarded = (caller: HubCaller) => (tool: HubTool) => messageTool(trail.watched(tool, caller), mask)
  const serverFor = (caller: HubCaller) =>
    toolServer(library, {
      name: 'termaite-hub',
      version,
      instructions: instructionsFor(caller),
      cwd: io.cwd,
      clock: io.clock,
      tools: hubTools(hub, io.clock, caller, { identify, handedIn, keys }).map(guarded(caller)),
      unlisted: lackedTools(hub, io.clock, caller).map(guarded(caller)),
      resources: attachmentResources(hub, caller),
    })()
  // If a client hangs up, its wait is cancelled, so that no task is given to a closed connection.
  const manner = { ownerOf: ({ id }: HubCaller) => id, hangUpCancels: true }
  const { allowPrompts = false, innerUrl } = at
  const machines = await hubMachines(io, defined({ allowPrompts, innerUrl, book }))
  useMachines(machines.work)
  const mcp = mcpEndpoint(library, serverFor, sayIfDebugging(io), manner)
  return {
    ...machines,
    keys,
    signIns,
    invites,
    routes: hubRoutes(
      hub,
      { keys, signIns, invites, page: () => at.address, version, audit: trail.book },
      clock,
      machines,
    ),
    changes,
    vitals,
    trail,
    version,
    mcp,
    standings: (signal) => agentStandings(hub, io.clock, signal),
    disk: (signal) => hub.disk.follow(signal),
    people: hub.people,
    page: new PageFiles(sourcePath('page')),
  }
}

/** The person at this machine, who starts the hub. */
const person = { id: 'own', name: 'user', role: 'admin' } as const

type HubAddressOptions = WishedAddress & {
  qr?: QrWish
  /** Whether people may send prompts to projects from the page. */
  allowPrompts?: boolean
  /** The address at which the other hubs of the same ledger reach this one. */
  innerUrl?: string
  /** The address of the ledger; without one it is a file of this home. */
  ledger?: string
  /** How long finished tasks are kept after they were last touched. */
  keepFinishedMs?: number
}

/** Serves the hub at its address until the process is stopped. */
export async function serveUntilEnded(io: Io, home: string, wish: HubAddressOptions): Promise<void> {
  const settings = await readSettings({ home }, { env: io.env })
  const { hub } = settings
  const { qr, allowPrompts, innerUrl = hub.innerUrl } = wish
  const served = servedAddress(wish, settings)
  const place = await ledgerPlace(io, home, settings, wish.ledger)
  const at: ServedAt = { ...served, qr, allowPrompts, innerUrl, address: served.publicOrigin }
  // Set after the hub is open, because the notices read its tasks; no change happens before that.
  let notices: HubNotices | undefined
  const told = (made: readonly HubChange[]) => notices?.see(made)
  const open = await openHub(
    io,
    home,
    defined({
      place,
      caps: defined({ task: hub.taskCap, day: hub.dayCap }),
      told,
      auditDays: hub.auditDays,
      keepFinishedMs: wish.keepFinishedMs ?? retentionTime('hub.keepFinished', hub.keepFinished),
      keepChanges: hub.keepChanges,
    }),
  )
  try {
    notices = await noticesOf(io, home, settings, open, () => at.address)
    await serve(io, home, open, at)
    await notices?.send()
  } finally {
    await open.close()
  }
}

/** `address`: the address of the page for browsers, which is known once the hub listens. */
type ServedAt = ServedAddress & Pick<HubAddressOptions, 'qr' | 'allowPrompts' | 'innerUrl'> & { address?: string }

/** Opens the notifiers in the settings for the events of the hub; undefined if the settings have none. */
async function noticesOf(
  io: Io,
  home: string,
  settings: Settings,
  { hub }: OpenHub,
  page: () => string | undefined,
): Promise<HubNotices | undefined> {
  if (settings.notify.length === 0) return undefined
  const [{ HubNotices }, { openNotify }] = await Promise.all([
    import('./hub-notices.ts'),
    import('../client/notify.ts'),
  ])
  const warn = (words: string) => say(io, `termaite: ${words}`)
  const mask = borderOf(io.env, home).toward('notice')
  const notify = openNotify(settings, { io, cwd: io.cwd, mask, warn, page })
  return new HubNotices({ clock: io.clock, notify, task: (id) => hub.task(id) })
}

async function serve(io: Io, home: string, open: OpenHub, at: ServedAt): Promise<void> {
  const { serveHub } = await import('../http/hub-http.ts')
  const { run, ...parts } = await hubParts(io, open, at)
  const listening = await serveHub({
    ...at,
    clock: open.clock,
    ...parts,
    tell: (words) => say(io, `termaite: ${words}`),
  }).catch((error) => {
    throw new UsageError(
      errorCode(error) === 'EADDRINUSE'
        ? `serve: port ${at.port} of ${at.host} is in use, perhaps by another hub (termaite ps lists them). Choose another one: termaite serve --port ${at.port + 1}, or --port 0 for any free one.`
        : `serve: ${at.host}:${at.port} cannot be served: ${messageOf(error)}.`,
      1,
    )
  })
  const { shown, local } = addressesOf(at, listening)
  const page = at.publicOrigin ?? (at.tls ? shown : undefined)
  at.address = page ?? local
  // Ends when the server closes.
  const linking = run()
  const unnote = noteProcess(home, defined({ process: 'hub', url: local, page }), io.clock)
  print(io, shown)
  const tell = (words: string) => say(io, wordWrapped(words, io.err.columns))
  tell(
    `MCP: ${page ?? local}/mcp · a key for each client: termaite hub keys add <name> · Ctrl+C stops the hub, and nothing is lost.`,
  )
  // A secret in a log would outlive its use, so the link is only shown on a terminal.
  if (io.err.isTTY) {
    const { secret } = await open.signIns.makeLink({ role: 'admin' }, person)
    const link = pageLink(at.address, secret)
    say(io, `Dashboard: ${link}`)
    tell('The link signs one browser in, within ten minutes. Another one: termaite dashboard')
    await showQr(io, link, at.qr)
  }
  if (!io.signal.aborted) await once(io.signal, 'abort')
  unnote()
  await listening.close()
  await linking
  await parts.terminals?.close()
}
