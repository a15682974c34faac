import type { Env } from '../../../base/env.ts'
import { join, resolve, sep } from 'node:path'
import { lstat, readFile, realpath } from 'node:fs/promises'
import { isMissing } from '../../../base/files/files.ts'
import { isPlainObject } from '../../../base/plain-object.ts'
import { messageOf } from '../../../base/error-message.ts'
import { defined } from '../../../base/defined.ts'

/** How to reach one server. `shown` is its command or address before variables are filled in. */
export type ServerConfig = {
  name: string
  /** The file that configures the server, or `settings`. */
  from: string
  shown: string
  timeoutSeconds: number
} & (StdioConfig | HttpConfig)

export type StdioConfig = {
  kind: 'stdio'
  command: string
  args: string[]
  cwd: string
  env: Record<string, string>
  /** Whether the person's own settings configure the server, and not the project's. */
  own?: true
  /** Whether the person's own settings let the server run outside the sandbox. */
  unwalled?: true
}

type HttpConfig = {
  kind: 'http' | 'sse'
  url: string
  headers: Record<string, string>
  oauth?: OAuthConfig
}

/** A client that the server already knows; without it, termaite registers itself. */
export type OAuthConfig = { clientId?: string; clientSecret?: string; clientMetadataUrl?: string; scope?: string }

const defaultTimeoutSeconds = 60

export type ReadServers = {
  /** The project, which contains its configuration files and is the base of a relative `cwd`. */
  root: string
  /** The person's home, for `~/`. */
  home: string
  env: Env
  /** Whether the project's own configuration files may be used. */
  trusted: boolean
  /** `mcpServers` of the person's own settings. */
  settings?: unknown
}

/** The project's configuration files; the first one that configures a server wins. */
const files = ['termaite.mcp.yaml', 'terminus.mcp.yaml', '.mcp.json'] as const

/**
 * Reads all configured servers in the order in which they are written. The person's own come first: otherwise a project's server of the
 * same name would inherit the permissions of the person's.
 */
export async function readServers(read: ReadServers): Promise<{ servers: ServerConfig[]; warnings: string[] }> {
  const servers = new Map<string, ServerConfig>()
  const names = new Map<string, string>()
  const warnings: string[] = []
  const take = (found: unknown, from: string) => {
    if (found === undefined || found === null) return
    if (!isPlainObject(found)) {
      warnings.push(`${from}: its MCP servers must be a map of names to servers.`)
      return
    }
    for (const [name, written] of Object.entries(found)) {
      const place: ConfigSource = { from, root: read.root, home: read.home, env: read.env }
      const earlier = names.get(name)
      if (earlier !== undefined) {
        warnings.push(`MCP server ${name} (${from}) is not used: ${earlier} has one of that name.`)
        continue
      }
      names.set(name, from)
      const checked = checkServer(name, written, place)
      warnings.push(...checked.warnings)
      if (checked.server) servers.set(name, checked.server)
    }
  }
  take(read.settings, 'settings')
  for (const file of files) {
    try {
      const path = join(read.root, file)
      await lstat(path)
      if (!read.trusted)
        warnings.push(
          `${file} is not used, because this folder is not trusted. To trust it, type /trust in the chat, or run termaite trust.`,
        )
      else take(await serversIn(file, await textAt(path, read.root)), file)
    } catch (error) {
      if (!isMissing(error)) warnings.push(`${file} could not be read: ${messageOf(error).split('\n')[0]}`)
    }
  }
  return { servers: [...servers.values()], warnings }
}

/** Reads a regular file; refuses a link that leads out of the project. */
async function textAt(path: string, root: string): Promise<string> {
  const [real, home] = await Promise.all([realpath(path), realpath(root)])
  if (!real.startsWith(home + sep)) throw new Error(`it is a link out of the project, to ${real}.`)
  if (!(await lstat(real)).isFile()) throw new Error('it is not a file.')
  return readFile(real, 'utf8')
}

async function serversIn(file: string, text: string): Promise<unknown> {
  const whole = file.endsWith('.json')
    ? await json(text)
    : (await import('../../../base/text/yaml-parser.ts')).parse(text)
  if (whole === null || whole === undefined) return undefined
  if (!isPlainObject(whole)) throw new Error('it must be a map.')
  return whole.servers ?? whole.mcpServers
}

async function json(text: string): Promise<unknown> {
  const { parse, printParseErrorCode } = await import('jsonc-parser')
  const errors: import('jsonc-parser').ParseError[] = []
  const value: unknown = parse(text, errors, { allowTrailingComma: true })
  const [error] = errors
  if (!error) return value
  const line = text.slice(0, error.offset).split('\n').length
  throw new Error(`${printParseErrorCode(error.error)} in line ${line}.`)
}

/** The file that configures a server, and the context for its paths and variables. */
type ConfigSource = { from: string; root: string; home: string; env: Env }

type CheckedServer = { server?: ServerConfig; warnings: string[] }

/** Checks a server's configuration and fills in variables; a wrong one results in warnings and no server. */
function checkServer(name: string, written: unknown, place: ConfigSource): CheckedServer {
  const unset = new Set<string>()
  const filled = (text: string) => {
    const done = fillVariables(text, place.env)
    for (const missing of done.unset) unset.add(missing)
    return done.text
  }
  const say = (words: string) => `MCP server ${name} (${place.from}): ${words}`
  try {
    if (!isPlainObject(written)) throw new Wrong('it must be a map with a command or a url.')
    if (written.disabled === true || written.enabled === false) return { warnings: [] }
    const server: ServerConfig = {
      name,
      from: place.from,
      timeoutSeconds: timeoutOf(written),
      ...(addressOf(written) === undefined ? stdio(written, place, filled) : http(written, filled)),
    }
    const both = server.kind !== 'stdio' && written.command !== undefined && written.command !== null
    const warnings = [
      ...(both ? ['it has a command and a url, and only the url is used. Take one of them out.'] : []),
      ...[...unset].map((missing) => `the variable ${missing} is not set.`),
    ]
    return { server, warnings: warnings.map(say) }
  } catch (error) {
    if (!(error instanceof Wrong)) throw error
    return { warnings: [say(error.message)] }
  }
}

class Wrong extends Error {}

type Written = Record<string, unknown>
type Filled = (text: string) => string

function stdio(written: Written, place: ConfigSource, filled: Filled): StdioConfig & { shown: string } {
  const { command, cwd = '.' } = written
  if (typeof command !== 'string' || command.trim() === '')
    throw new Wrong('it needs a command (a program to start) or a url.')
  if (!['stdio', 'local', undefined].includes(written.type as string))
    throw new Wrong(`with a command, type must be stdio.`)
  if (typeof cwd !== 'string') throw new Wrong('cwd must be a folder.')
  const args = listOf(written.args)
  const own = place.from === 'settings' && written.project !== true
  return defined({
    kind: 'stdio' as const,
    own: own || undefined,
    unwalled: (own && written.wall === false) || undefined,
    command: atHome(filled(command), place.home),
    args: args.map(filled),
    cwd: resolve(place.root, atHome(filled(cwd), place.home)),
    env: mapOf('env', written.env, filled),
    shown: [command, ...args].join(' '),
  })
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
  return defined({
    kind: type === 'sse' ? 'sse' : 'http',
    url,
    headers: mapOf('headers', written.headers, filled),
    oauth,
    shown,
  })
}

/** Other programs use other names for the address. */
function addressOf(written: Written): string | undefined {
  const url = written.url ?? written.httpUrl ?? written.serverUrl
  if (url !== undefined && typeof url !== 'string') throw new Wrong('url must be text.')
  return url
}

function timeoutOf(written: Written): number {
  // In other programs' files `timeout` is in milliseconds.
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
  if (!isPlainObject(map) || !Object.values(map).every(isScalar))
    throw new Wrong(`${key} must be a map of names to texts.`)
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, filled(String(value))]))
}

function oauthOf(oauth: unknown, filled: Filled): OAuthConfig | undefined {
  if (oauth === undefined) return undefined
  const { clientId, clientSecret, clientMetadataUrl, scope, ...rest } = mapOf('oauth', oauth, filled)
  const [unknown] = Object.keys(rest)
  if (unknown) throw new Wrong(`oauth has no ${unknown}; it takes clientId, clientSecret, clientMetadataUrl and scope.`)
  return defined({
    clientId: clientId || undefined,
    clientSecret: clientSecret || undefined,
    clientMetadataUrl: clientMetadataUrl || undefined,
    scope: scope || undefined,
  })
}

const variable = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g

/** Fills in `${VAR}` and `${VAR:-default}`. A variable that is not set is left unchanged and listed in `unset`. */
function fillVariables(text: string, env: Env): { text: string; unset: string[] } {
  const unset: string[] = []
  const filled = text.replace(variable, (written, name: string, otherwise: string | undefined) => {
    const value = env[name]
    if (value !== undefined && (value !== '' || otherwise === undefined)) return value
    if (otherwise !== undefined) return otherwise
    unset.push(name)
    return written
  })
  return { text: filled, unset }
}

/** The values that only this server may see: those in its environment, its headers and its login. */
export function secretsOf(config: ServerConfig): string[] {
  const values =
    config.kind === 'stdio'
      ? Object.values(config.env)
      : [...Object.values(config.headers), config.oauth?.clientSecret ?? '']
  // A header is often a word and a token, such as "Bearer …": the token alone is also a secret.
  return values.flatMap((value) => [value, ...value.split(/\s+/)]).filter((value) => value.length >= 6)
}

/** Replaces all secrets in a text. */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  return [...secrets]
    .sort((a, b) => b.length - a.length)
    .reduce((shown, secret) => shown.replaceAll(secret, '***'), text)
}

const atHome = (path: string, home: string) => (path.startsWith('~/') ? join(home, path.slice(2)) : path)

const isScalar = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value)
