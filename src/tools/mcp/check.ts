import type { HttpConfig, OAuthConfig, ServerConfig, StdioConfig } from './config.ts'
import type { Env } from './fill.ts'
import { join, resolve } from 'node:path'
import { defaultTimeoutSeconds } from './config.ts'
import { fill } from './fill.ts'

/** Where a server was written down, and what its paths and variables mean there. */
export type Place = { from: string; root: string; home: string; env: Env }

export type Checked = { server?: ServerConfig; warnings: string[] }

/** One server as it was written, made whole; what is wrong is said in words, and then there is no server. */
export function checkServer(name: string, written: unknown, place: Place): Checked {
  const unset = new Set<string>()
  const filled = (text: string) => {
    const done = fill(text, place.env)
    for (const missing of done.unset) unset.add(missing)
    return done.text
  }
  const say = (words: string) => `MCP server ${name} (${place.from}): ${words}`
  try {
    if (!isMap(written)) throw new Wrong('it must be a map with a command or a url.')
    if (written.disabled === true || written.enabled === false) return { warnings: [] }
    const server: ServerConfig = {
      name,
      from: place.from,
      timeoutSeconds: timeoutOf(written),
      ...(addressOf(written) === undefined ? stdio(written, place, filled) : http(written, filled)),
    }
    return { server, warnings: [...unset].map((missing) => say(`the variable ${missing} is not set.`)) }
  } catch (error) {
    if (!(error instanceof Wrong)) throw error
    return { warnings: [say(error.message)] }
  }
}

class Wrong extends Error {}

type Written = Record<string, unknown>
type Filled = (text: string) => string

function stdio(written: Written, place: Place, filled: Filled): StdioConfig & { shown: string } {
  const { command, cwd = '.' } = written
  if (typeof command !== 'string' || command.trim() === '')
    throw new Wrong('it needs a command (a program to start) or a url.')
  if (!['stdio', 'local', undefined].includes(written.type as string))
    throw new Wrong(`with a command, type must be stdio.`)
  if (typeof cwd !== 'string') throw new Wrong('cwd must be a folder.')
  const args = listOf(written.args)
  return {
    kind: 'stdio',
    command: atHome(filled(command), place.home),
    args: args.map(filled),
    cwd: resolve(place.root, atHome(filled(cwd), place.home)),
    env: mapOf('env', written.env, filled),
    shown: [command, ...args].join(' '),
  }
}

function http(written: Written, filled: Filled): HttpConfig & { shown: string } {
  const shown = addressOf(written)!
  const url = filled(shown)
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : ''))
    throw new Wrong(`url must begin with http:// or https://, not ${shown}.`)
  const { type = 'http' } = written
  if (!['http', 'streamable-http', 'sse'].includes(type as string))
    throw new Wrong('with a url, type must be http or sse.')
  const oauth = oauthOf(written.oauth, filled)
  return {
    kind: type === 'sse' ? 'sse' : 'http',
    url,
    headers: mapOf('headers', written.headers, filled),
    ...(oauth ? { oauth } : {}),
    shown,
  }
}

/** Other programs' files call it by other names. */
function addressOf(written: Written): string | undefined {
  const url = written.url ?? written.httpUrl ?? written.serverUrl
  if (url !== undefined && typeof url !== 'string') throw new Wrong('url must be text.')
  return url
}

function timeoutOf(written: Written): number {
  // `timeout` counts milliseconds where other programs have it.
  const { timeout } = written
  const seconds =
    written.timeout_seconds ?? written.timeoutSeconds ?? (typeof timeout === 'number' ? timeout / 1000 : timeout)
  if (seconds === undefined) return defaultTimeoutSeconds
  if (typeof seconds !== 'number' || !(seconds > 0) || !Number.isFinite(seconds))
    throw new Wrong('timeout_seconds must be a number above 0.')
  return seconds
}

function listOf(args: unknown): string[] {
  if (args === undefined || args === null) return []
  if (!Array.isArray(args) || !args.every(isScalar)) throw new Wrong('args must be a list of texts.')
  return args.map(String)
}

function mapOf(key: string, map: unknown, filled: Filled): Record<string, string> {
  if (map === undefined || map === null) return {}
  if (!isMap(map) || !Object.values(map).every(isScalar)) throw new Wrong(`${key} must be a map of names to texts.`)
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, filled(String(value))]))
}

function oauthOf(oauth: unknown, filled: Filled): OAuthConfig | undefined {
  if (oauth === undefined) return undefined
  const { clientId, clientSecret, clientMetadataUrl, scope, ...rest } = mapOf('oauth', oauth, filled)
  const [unknown] = Object.keys(rest)
  if (unknown) throw new Wrong(`oauth has no ${unknown}; it takes clientId, clientSecret, clientMetadataUrl and scope.`)
  return {
    ...(clientId ? { clientId } : {}),
    ...(clientSecret ? { clientSecret } : {}),
    ...(clientMetadataUrl ? { clientMetadataUrl } : {}),
    ...(scope ? { scope } : {}),
  }
}

const atHome = (path: string, home: string) => (path.startsWith('~/') ? join(home, path.slice(2)) : path)

const isScalar = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value)

export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
