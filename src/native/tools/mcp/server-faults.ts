import type { ElicitRequestURLParams } from '@modelcontextprotocol/client'
import type { ServerConfig } from './server-config.ts'
import { errorCode } from '../../../base/files/files.ts'
import { messageOf } from '../../../base/error-message.ts'

/** A `passing` fault may disappear by itself, `login` needs the person, `final` needs another configuration. */
export type Fault = { is: 'passing' | 'login' | 'final'; why: string }

/** Says why a server could not be reached; `last` is its last output. */
export function faultOf(error: unknown, config: ServerConfig, last: string): Fault {
  if (wantsLogin(error)) return { is: 'login', why: 'it requires a login' }
  const code = errorCode(error)
  if (config.kind === 'stdio' && (code === 'ENOENT' || /execvp .*: No such file or directory/.test(last)))
    return { is: 'final', why: `${config.command} was not found, or there is no folder ${config.cwd}` }
  if (code === 'EACCES') return { is: 'final', why: firstLine(error) }
  const why = isLost(error) && last ? last : firstLine(error) + causeOf(error)
  const mended = config.kind === 'stdio' && config.own && !config.unwalled && refused.test(last)
  return {
    is: 'passing',
    why: mended ? `${why}. It runs in the sandbox; set "wall": false in its settings to let it run outside` : why,
  }
}

/** Messages of programs that the sandbox may have caused. */
const refused =
  /read-only file system|\bEROFS\b|permission denied|\bEACCES\b|operation not permitted|docker daemon|getaddrinfo|could not resolve/i

/** The error for the model when a call failed. */
export function callFault(error: unknown, name: string, last: string): string {
  if (wantsLogin(error)) return loginWanted(name)
  // The number of the protocol's error is of no use to the model.
  if (!isLost(error)) return messageOf(error).replace(/^MCP error -?\d+: /, '') + causeOf(error)
  return (
    `the MCP server ${name} stopped during this call (${last || firstLine(error)}). It is being restarted; ` +
    'termaite does not know whether the call had an effect: check before you call it again'
  )
}

export const loginWanted = (name: string) =>
  `the MCP server ${name} requires a login. Tell the person to type /mcp login ${name}, and go on without it.`

export const wantsLogin = (error: unknown) =>
  (error as { name?: string } | undefined)?.name === 'UnauthorizedError' || statusOf(error) === 401

/** A server that asks for more pages than this at once is refused. */
const mostPages = 3

/** The pages that a server wants the person to open before it answers a call; they come with the protocol's error -32042. */
export function requiredPages(error: unknown): ElicitRequestURLParams[] {
  const { code, data } = (error ?? {}) as { code?: unknown; data?: { elicitations?: unknown } }
  const pages = code === -32042 && Array.isArray(data?.elicitations) ? data.elicitations : []
  const known = pages.filter(
    ({ mode, url, message }) => mode === 'url' && typeof url === 'string' && typeof message === 'string',
  )
  return known.length <= mostPages ? known : []
}

/** Whether the server no longer knows our session, which may happen at any time. */
export const isForgotten = (error: unknown) => statusOf(error) === 404

/** Whether the server understood the offered protocol and refused it. */
export const isRefusal = (error: unknown) =>
  (error as { name?: string } | undefined)?.name === 'ProtocolError' ||
  /protocol version is not supported/.test(messageOf(error))

const isLost = (error: unknown) => /connection closed|not connected|server is not running/i.test(firstLine(error))

function statusOf(error: unknown): number | undefined {
  const found = error as { status?: unknown; data?: { status?: unknown } } | undefined
  const status = found?.status ?? found?.data?.status
  return typeof status === 'number' ? status : undefined
}

/** The system's error code, which fetch hides behind "fetch failed". */
function causeOf(error: unknown): string {
  const code = errorCode((error as { cause?: unknown } | undefined)?.cause)
  return code ? ` (${code})` : ''
}

const firstLine = (error: unknown) => messageOf(error).split('\n')[0]!.slice(0, 300)
