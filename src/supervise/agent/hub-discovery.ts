import type { HubPlace, HubPlaceNow } from '../../hub/client/hub-address.ts'
import type { HubCaller } from '../../hub/model/access/hub-key.ts'
import type { Io } from '../../core/io.ts'
import type { Place } from '../../home/place.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Consent } from '../../native/mcp/mcp-entries.ts'
import type { Whereabouts } from '../../native/mcp/clients.ts'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../../base/files/files.ts'
import { isPlainObject } from '../../base/plain-object.ts'
import { checkAddress, hubPlace, keyFileOf, namedHub, usualHub } from '../../hub/client/hub-address.ts'
import { writeKey } from '../../hub/client/server-access.ts'
import { runningHubUrl } from '../../border/running-processes.ts'
import { HubClient, unknownKey } from '../../hub/client/hub-client.ts'
import { HubAway, HubRefused, HubUntrusted } from '../../hub/engine/remote-hub.ts'
import { ask, askHidden } from '../../questions/terminal-questions.ts'
import { say, UsageError } from '../../core/io.ts'
import { jsonFormat } from '../../native/mcp-config/json-format.ts'
import { readConfig, writeConfig } from '../../native/mcp-config/config-file.ts'
import { isSecretVariable } from '../../safety/secret-patterns.ts'
import { clients, hubName } from '../../native/mcp/clients.ts'
import { whereabouts } from '../../native/mcp/mcp-entries.ts'
import { exit } from '../../core/exit-codes.ts'

/**
 * A hub, and the client as which it knows us; `caller` is missing while the hub does not answer. `now` looks its place up again, and
 * `fixed` means that the place does not change, because a person named it.
 */
export type FoundHub = { place: HubPlace; now: HubPlaceNow; fixed: boolean; caller?: HubCaller }

/** Finds the hub by option, environment, settings, other programs' settings, or by asking the person; and checks whether it answers. */
export async function findHub(
  io: Io,
  { home }: Place,
  settings: Settings,
  { server, wired, dry, yes }: Consent & { server?: string; wired: readonly NamedHub[] },
): Promise<FoundHub> {
  const mayAsk = !yes && !dry && !existsSync(join(home, 'hub.key'))
  const named =
    namedHub(io, settings, server) ??
    (runningHubUrl(home) === undefined
      ? (wired.find(({ url }) => url !== undefined)?.url ?? (mayAsk ? await askedFor(io, home) : undefined))
      : undefined)
  // A hub that nobody named may be started later or restarted, at any port.
  const now = () => withKey(hubPlace(io, settings, named), wired)
  const place = now()
  const caller = (await callerAt(io, place)) ?? (dry ? undefined : await awaitedName(io, now))
  if (!caller)
    say(io, `No hub answers at ${place.url} yet. Its tools and tasks come as soon as it runs: termaite serve`)
  if (caller?.role === 'observer')
    throw new UsageError(
      `the key of ${caller.name} only reads at ${place.url}: an agent needs a key of the role agent. Make one with: termaite hub keys add <name> --role agent.`,
      1,
    )
  return { place: caller ? now() : place, now, fixed: named !== undefined, caller }
}

/** How often a hub that does not answer is tried again. */
const againMs = 1_000

/**
 * Waits for the hub if an agent's own key was provided, because only the hub knows the name of that key. Undefined if the agent's name
 * does not depend on the hub.
 */
async function awaitedName(io: Io, now: HubPlaceNow): Promise<HubCaller | undefined> {
  if ((io.env.TERMAITE_HUB_KEY ?? io.env.TERMAITE_HUB_KEY_FILE) === undefined) return undefined
  say(
    io,
    `Waiting for the hub at ${now().url}, which knows the name of the agent with this key. Start it with termaite serve; Ctrl+C stops waiting.`,
  )
  while (!io.signal.aborted) {
    await io.clock.sleep(againMs, io.signal)
    const caller = io.signal.aborted ? undefined : await callerAt(io, now())
    if (caller) return caller
  }
  throw new UsageError('stopped waiting for the hub; nothing was started.', exit.interrupted)
}

/** Uses the key from another program's settings if we have none for this address. */
function withKey(place: HubPlace, wired: readonly NamedHub[]): HubPlace {
  const key = place.key ?? wired.find(({ url }) => url === place.url)?.key
  return { ...place, key }
}

/**
 * Asks the person for the hub's address and key, and stores both, so that the person is only asked once. Undefined if nobody can be
 * asked, or if the person just presses Enter: that means the hub of this machine, which is found at any port.
 */
async function askedFor(io: Io, home: string): Promise<string | undefined> {
  if (io.in.isTTY !== true) return undefined
  const said = (await ask(io, `Server address [${usualHub}]: `)).trim()
  if (said === '') return undefined
  const url = said.includes('://') ? said : `http://${said}`
  checkAddress(url)
  const key = (await askHidden(io, 'API key (optional): ')).trim()
  makeFolder(home)
  if (key !== '') keepKey(home, url, key)
  const settings = readConfig(join(home, 'settings.json'), home)
  writeConfig(settings, jsonFormat.put(settings.text, ['hub', 'url'], url))
  return url
}

function keepKey(home: string, url: string, key: string): void {
  if (key.length < 20)
    throw new UsageError(
      'this is not a key of a hub. Make one on the machine where the hub runs, with termaite hub keys add <name>.',
    )
  writeKey(join(home, keyFileOf(url)), key)
}

/** How long a hub may take to answer. */
const patienceMs = 3_000

async function callerAt(io: Io, place: HubPlace): Promise<HubCaller | undefined> {
  const hub = new HubClient(place)
  const late = AbortSignal.any([io.signal, AbortSignal.timeout(patienceMs)])
  return hub.me(late).catch(handleRefusal)

  function handleRefusal(error: unknown): undefined {
    if (error instanceof HubRefused && error.status === 401) throw unknownKey(place.url)
    // Waiting would not repair a certificate, and the key must not be sent to a different server.
    if (error instanceof HubUntrusted) throw new UsageError(error.message, 1)
    if (late.aborted || error instanceof HubAway || error instanceof HubRefused) return undefined
    throw error
  }
}

/** A hub in another program's settings, with the settings file. */
type NamedHub = { file: string; name: string; url?: string; key?: string }

/** Findings in other programs' settings: addresses of hubs, and keys in plain text. */
type SettingsScan = { hubs: NamedHub[]; plain: string[] }

/**
 * The JSON files that configure MCP servers, and the path to the servers in each: the project's, those of the CLIs, and one that earlier
 * tools wrote.
 */
const places = (where: Whereabouts, root: string) => [
  { file: join(root, '.mcp.json'), path: ['mcpServers'] },
  { file: join(where.home, '.claude', 'claude_desktop_config.json'), path: ['mcpServers'] },
  ...clients
    .filter(({ format, desktop }) => format === jsonFormat && !desktop)
    .map((client) => ({ file: client.file(where), path: client.path.slice(0, -1) })),
]

/** Names of a hub in such files; the second was used by an earlier version. */
const hubNames: readonly string[] = [hubName, 'waaah']

export function scanSettings(io: Io, { root }: Pick<Place, 'root'>): SettingsScan {
  const found = places(whereabouts(io.env), root).flatMap((place) =>
    entriesIn(place).map((entry) => ({ ...place, ...entry })),
  )
  const hubs = found.filter(({ name }) => hubNames.includes(name))
  return {
    hubs: hubs.map(({ file, name, value }) => ({ file, name, ...addressIn(value) })),
    plain: found.flatMap(({ file, path, name, value }) =>
      plainKeys(value).map((key) => `${file} holds a key in plain text: ${[...path, name, key].join('.')}`),
    ),
  }
}

/** Reads the servers in a file; an unreadable file counts as empty here, and its error is reported when it has to be written. */
function entriesIn({ file, path }: { file: string; path: readonly string[] }): { name: string; value: unknown }[] {
  try {
    const servers = jsonFormat.find(readFileSync(file, 'utf8'), path)
    return Object.entries(isPlainObject(servers) ? servers : {}).map(([name, value]) => ({ name, value }))
  } catch {
    return []
  }
}

function addressIn(value: unknown): Pick<NamedHub, 'url' | 'key'> {
  const { url, httpUrl, headers } = isPlainObject(value) ? value : {}
  const address = [url, httpUrl].find((one) => typeof one === 'string')?.replace(/\/mcp\/?$/, '')
  const bearer = /^Bearer ([\w-]{20,})$/.exec(String((isPlainObject(headers) && headers.Authorization) || ''))?.[1]
  return { url: address, key: bearer }
}

/** A reference to a variable is not a key. */
const named = /^(?:Bearer )?\$\{?\w+\}?$/

function plainKeys(value: unknown): string[] {
  const { headers, env } = isPlainObject(value) ? value : {}
  return Object.entries({ headers, env }).flatMap(([where, map]) =>
    Object.entries(isPlainObject(map) ? map : {})
      .filter(([name, text]) => (/^authorization$/i.test(name) || isSecretVariable(name) ? isPlain(text) : false))
      .map(([name]) => `${where}.${name}`),
  )
}

const isPlain = (text: unknown) => typeof text === 'string' && text !== '' && !named.test(text)
