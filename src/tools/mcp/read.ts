import type { Place } from './check.ts'
import type { ServerConfig } from './config.ts'
import type { Env } from './fill.ts'
import { lstat, readFile, realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { isMissing } from '../../base/files.ts'
import { wordsOf } from '../../base/words.ts'
import { checkServer, isMap } from './check.ts'

export type ReadServers = {
  /** The project: where its files are, and what a relative `cwd` is relative to. */
  root: string
  /** The person's home: what `~/` means. */
  home: string
  env: Env
  /** Whether what came with the folder may be used. */
  trusted: boolean
  /** `mcpServers` of the person's own settings. */
  settings?: unknown
}

/** The project's files: the first that names a server has it. */
const files = ['termaite.mcp.yaml', 'terminus.mcp.yaml', '.mcp.json'] as const

/**
 * All servers that are configured, in the order they were written. The person's own come first: what a project
 * calls by the same name would otherwise inherit what the person allowed it.
 */
export async function readServers(read: ReadServers): Promise<{ servers: ServerConfig[]; warnings: string[] }> {
  const servers = new Map<string, ServerConfig>()
  const names = new Map<string, string>()
  const warnings: string[] = []
  const take = (found: unknown, from: string) => {
    if (found === undefined || found === null) return
    if (!isMap(found)) return void warnings.push(`${from}: its MCP servers must be a map of names to servers.`)
    for (const [name, written] of Object.entries(found)) {
      const place: Place = { from, root: read.root, home: read.home, env: read.env }
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
      if (!read.trusted) warnings.push(`${file} is not used: this folder is not trusted.`)
      else take(await serversIn(file, await textAt(path, read.root)), file)
    } catch (error) {
      if (!isMissing(error)) warnings.push(`${file} could not be read: ${wordsOf(error).split('\n')[0]}`)
    }
  }
  return { servers: [...servers.values()], warnings }
}

/** No link of a project leads out of it, and what is no file is not waited for. */
async function textAt(path: string, root: string): Promise<string> {
  const [real, home] = await Promise.all([realpath(path), realpath(root)])
  if (!real.startsWith(home + sep)) throw new Error(`it leads out of the project, to ${real}.`)
  if (!(await lstat(real)).isFile()) throw new Error('it is no file.')
  return readFile(real, 'utf8')
}

async function serversIn(file: string, text: string): Promise<unknown> {
  const whole = file.endsWith('.json') ? await json(text) : (await import('./yaml.ts')).parse(text)
  if (whole === null || whole === undefined) return undefined
  if (!isMap(whole)) throw new Error('it must be a map.')
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
