import type { FoundRule, FoundServer, FoundSettings, ServerValue, Unusable } from '../../core/profile/belongings.ts'
import { defined } from '../../base/defined.ts'
import { isPlainObject } from '../../base/plain-object.ts'

type Map = Readonly<Record<string, unknown>>

/** The form in which one CLI writes MCP servers, as an object of names. */
type ServerForm = {
  /** Replaces the variables in a text by ours (`${NAME}`); undefined if a part of the text has no meaning in termaite. */
  text(written: string): string | undefined
  /** The type of a server that has an address but does not state its type. */
  address?: (server: Map) => 'http' | 'sse'
}

/** Names that can be part of a tool's name. */
const usableName = /^[A-Za-z0-9][\w.-]{0,63}$/

/** Parses an object of servers by name. Servers that cannot be used are in `unusable`, with the reason. */
export function serversIn(found: unknown, form: ServerForm): FoundSettings {
  if (found === undefined || found === null) return {}
  if (!isPlainObject(found))
    return { unusable: [{ what: 'MCP servers', why: 'they are not an object of names and servers' }] }
  const servers: FoundServer[] = []
  const rules: FoundRule[] = []
  const unusable: Unusable[] = []
  for (const [name, server] of Object.entries(found)) {
    const read = usableName.test(name) ? serverIn(name, server, form) : 'its name has characters that no tool may have'
    if (typeof read === 'string') unusable.push({ what: `MCP server ${name}`, why: read })
    else {
      servers.push(read)
      rules.push(...excludedTools(name, server as Map))
    }
  }
  return { servers, rules, unusable }
}

/** The tools that a CLI excludes from a server: our rules deny them. */
function excludedTools(name: string, { excludeTools, disabled_tools: disabled }: Map): FoundRule[] {
  return textsIn(excludeTools ?? disabled)
    .filter((tool) => /^[\w-]+$/.test(tool))
    .map((tool) => ({ list: 'deny', rule: `mcp__${name}__${tool}` }))
}

function serverIn(name: string, server: unknown, form: ServerForm): FoundServer | string {
  if (!isPlainObject(server)) return 'it is not an object with a command or an address'
  if (server.disabled === true || server.enabled === false) return 'it is switched off there'
  const only = [server.includeTools, server.enabled_tools, server.tools].find((one) => Array.isArray(one))
  if (textsIn(only).length > 0 && !textsIn(only).includes('*'))
    return 'only some of its tools are allowed there, and termaite would have all of them'
  const timeoutSeconds = secondsOf(server)
  const address = server.httpUrl ?? server.url ?? server.serverUrl
  if (typeof address === 'string') {
    const url = form.text(address)
    const headers = valuesIn(server.headers, form)
    if (url === undefined || !headers) return oddVariable
    const type: 'http' | 'sse' =
      server.type === 'sse' || (server.type === undefined && form.address?.(server) === 'sse') ? 'sse' : 'http'
    return defined({ name, url, type, headers, timeoutSeconds })
  }
  const words = [server.command, server.args ?? []].flat()
  if (typeof words[0] !== 'string' || !words.every((word) => typeof word === 'string'))
    return 'it has neither a command nor an address'
  const argv = words.map((word) => form.text(word))
  const env = valuesIn(server.env ?? server.environment, form)
  const cwd = typeof server.cwd === 'string' ? form.text(server.cwd) : undefined
  if (!argv.every((word) => word !== undefined) || !env || (typeof server.cwd === 'string' && cwd === undefined))
    return oddVariable
  const [command, ...args] = argv
  return defined({ name, command: command!, args, cwd, env, timeoutSeconds })
}

const oddVariable = 'it has a variable or a value of a form that termaite does not know'

/** A value that names a variable remains a reference; any other value may be a secret. */
function valuesIn(found: unknown, { text }: ServerForm): Record<string, ServerValue> | undefined {
  if (found === undefined || found === null) return {}
  if (!isPlainObject(found)) return undefined
  const values: Record<string, ServerValue> = {}
  for (const [name, value] of Object.entries(found)) {
    if (!['string', 'number', 'boolean'].includes(typeof value)) return undefined
    const ours = text(String(value))
    if (ours === undefined) return undefined
    values[name] = /\$\{\w+/.test(ours) ? { reference: ours } : { literal: ours }
  }
  return values
}

/** The time limit of a call: milliseconds in most programs' files, seconds in Codex's. */
function secondsOf({ timeout, tool_timeout_sec: seconds }: Map): number | undefined {
  const found = typeof seconds === 'number' ? seconds : typeof timeout === 'number' ? timeout / 1000 : 0
  return Number.isFinite(found) && found > 0 ? found : undefined
}

/** `${NAME}` and `${NAME:-default}` mean the same in these files as in termaite's. */
export const bracedVariables = (written: string) => written

/** `$NAME` is a variable too in these files. */
export const dollarVariables = (written: string) => written.replaceAll(/\$([A-Za-z_]\w*)/g, '${$1}')

/** For a program that substitutes no variables: text that looks like a variable in termaite would change its meaning. */
export const noVariables = (written: string) => (/\$\{\w/.test(written) ? undefined : written)

export const textsIn = (found: unknown): string[] =>
  Array.isArray(found) ? found.filter((one): one is string => typeof one === 'string') : []

/** Joins the settings from several parts of a file. */
export function joined(...all: readonly FoundSettings[]): FoundSettings {
  return {
    servers: all.flatMap(({ servers = [] }) => servers),
    hooks: all.flatMap(({ hooks = [] }) => hooks),
    rules: all.flatMap(({ rules = [] }) => rules),
    unusable: all.flatMap(({ unusable = [] }) => unusable),
  }
}
