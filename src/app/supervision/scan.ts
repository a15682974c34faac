import type { Io } from '../../core/io.ts'
import type { Place } from '../place.ts'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isSecretName } from '../../safety/redaction/names.ts'
import { hubName } from '../mcp/clients.ts'
import { jsonFormat } from '../../mcp-config/json.ts'

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
