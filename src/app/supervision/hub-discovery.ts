import type { HubPlace } from '../hub/hub-address.ts'
import type { Io } from '../../core/io.ts'
import type { Place } from '../place.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Consent } from '../mcp/mcp-entries.ts'
import { existsSync, writeFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../../base/files.ts'
import { hubPlace, keyFileOf, usualPort } from '../hub/hub-address.ts'
import { HubClient } from '../hub/hub-client.ts'
import { HubAway, HubRefused } from '../../hub/remote-hub.ts'
import { ask, askHidden } from '../../faces/terminal-questions.ts'
import { say, UsageError } from '../../core/io.ts'
import { jsonFormat } from '../../mcp-config/json-format.ts'
import { readConfig, writeConfig } from '../../mcp-config/config-file.ts'
import { isSecretName } from '../../safety/secret-patterns.ts'
import { hubName } from '../mcp/clients.ts'

export type FoundHub = { place: HubPlace; reachable: boolean }

const usual = `http://localhost:${usualPort}`

/** Where the hub is: as it was told, as it was wired before, as the person says now; and whether it answers. */
export async function findHub(
  io: Io,
  { home }: Place,
  settings: Settings,
  { server, wired, dry, yes }: Consent & { server?: string; wired: readonly Entry[] },
): Promise<FoundHub> {
  const known = server ?? io.env.TERMAITE_HUB ?? settings.hub.url ?? wired.find(({ url }) => url !== undefined)?.url
  const told = known ?? (yes || dry || existsSync(join(home, 'hub.key')) ? usual : await askedFor(io, home))
  const place = withKey(hubPlace(io, settings, checked(told)), wired)
  const reachable = await answers(io, place)
  if (!reachable) say(io, 'Cannot connect to termaite hub. Agent will run without MCP.')
  return { place, reachable }
}

/** A key that somebody wired for the same address is as good as one that we keep. */
function withKey(place: HubPlace, wired: readonly Entry[]): HubPlace {
  const key = place.key ?? wired.find(({ url }) => url === place.url)?.key
  return { ...place, ...(key === undefined ? {} : { key }) }
}

function checked(url: string): string {
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new UsageError(`--server: found "${url}", allowed: the http(s) address of a hub, as in ${usual}.`)
  return url
}

/** Whoever is asked is asked once: what they say is kept. */
async function askedFor(io: Io, home: string): Promise<string> {
  if (io.in.isTTY !== true) return usual
  const said = (await ask(io, `Server address [${usual}]: `)).trim() || usual
  const url = checked(said.includes('://') ? said : `http://${said}`)
  const key = (await askHidden(io, 'API key (optional): ')).trim()
  makeFolder(home)
  if (key !== '') keepKey(home, url, key)
  const settings = readConfig(join(home, 'settings.json'), home)
  writeConfig(settings, jsonFormat.put(settings.text, ['hub', 'url'], url))
  return url
}

function keepKey(home: string, url: string, key: string): void {
  if (key.length < 20) throw new UsageError('that is no key of a hub: it stands in hub.key where the hub runs.')
  writeFileSync(join(home, keyFileOf(url)), `${key}\n`, { mode: 0o600, flush: true })
}

/** How long a hub may take to answer. */
const patienceMs = 3_000

async function answers(io: Io, place: HubPlace): Promise<boolean> {
  const hub = new HubClient(place)
  const late = AbortSignal.any([io.signal, AbortSignal.timeout(patienceMs)])
  return hub.agents(late).then(() => true, refused)

  function refused(error: unknown): false {
    if (error instanceof HubRefused && error.status === 401)
      throw new UsageError(
        `the hub at ${place.url} does not know our key: set TERMAITE_HUB_KEY to what its hub.key holds.`,
        1,
      )
    if (late.aborted || error instanceof HubAway || error instanceof HubRefused) return false
    throw error
  }
}

/** A server that somebody wired before us, and where. */
export type Entry = { file: string; name: string; url?: string; key?: string }

/** What other programs' settings say: every way to a hub, and every key that stands there for all to read. */
export type Scan = { hubs: Entry[]; plain: string[] }

/** Where servers stand in JSON: the project's, the person's, and the desktop's, whose name people know from elsewhere. */
const places = (home: string, root: string) => [
  join(root, '.mcp.json'),
  join(home, '.claude.json'),
  join(home, '.claude', 'claude_desktop_config.json'),
  join(home, '.gemini', 'settings.json'),
]

/** Names that hubs have had; ours is the first. */
const hubNames: readonly string[] = [hubName, 'waaah']

export function scan(io: Io, { root }: Pick<Place, 'root'>): Scan {
  const home = io.env.HOME ?? ''
  const found = places(home, root).flatMap((file) => entriesIn(file).map((entry) => ({ file, ...entry })))
  const hubs = found.filter(({ name }) => hubNames.includes(name))
  return {
    hubs: hubs.map(({ file, name, value }) => ({ file, name, ...addressIn(value) })),
    plain: found.flatMap(({ file, name, value }) =>
      plainKeys(value).map((key) => `${file} holds a key in plain text: mcpServers.${name}.${key}`),
    ),
  }
}

/** A file that cannot be read says nothing here; who would write it says why it cannot. */
function entriesIn(file: string): { name: string; value: unknown }[] {
  try {
    const servers = jsonFormat.find(readFileSync(file, 'utf8'), ['mcpServers'])
    return Object.entries(isObject(servers) ? servers : {}).map(([name, value]) => ({ name, value }))
  } catch {
    return []
  }
}

function addressIn(value: unknown): Pick<Entry, 'url' | 'key'> {
  const { url, httpUrl, headers } = isObject(value) ? value : {}
  const address = [url, httpUrl].find((one) => typeof one === 'string')?.replace(/\/mcp\/?$/, '')
  const bearer = /^Bearer ([\w-]{20,})$/.exec(String((isObject(headers) && headers.Authorization) || ''))?.[1]
  return { ...(address === undefined ? {} : { url: address }), ...(bearer === undefined ? {} : { key: bearer }) }
}

/** A variable that is named is no key. */
const named = /^(?:Bearer )?\$\{?\w+\}?$/

function plainKeys(value: unknown): string[] {
  const { headers, env } = isObject(value) ? value : {}
  return Object.entries({ headers, env }).flatMap(([where, map]) =>
    Object.entries(isObject(map) ? map : {})
      .filter(([name, text]) => (/^authorization$/i.test(name) || isSecretName(name) ? isPlain(text) : false))
      .map(([name]) => `${where}.${name}`),
  )
}

const isPlain = (text: unknown) => typeof text === 'string' && text !== '' && !named.test(text)

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
