import { isIP } from 'node:net'
import { UsageError } from '../../core/io.ts'

export type Address = { host: string; port: number }

/** `[host:]port`. Plain HTTP is served to this machine alone. */
export function addressOf(text: string): Address {
  const [, name = '127.0.0.1', digits] = /^(?:(.+):)?(\d+)$/.exec(text) ?? []
  const port = digits === undefined ? NaN : Number(digits)
  if (!(port <= 65_535)) throw new UsageError(`--http: found "${text}", allowed: [host:]port, as in 127.0.0.1:3920.`)
  const host = name.replace(/^\[(.*)\]$/, '$1')
  if (!isLoopback(host))
    throw new UsageError(
      `--http: ${host} is not this machine alone, and plain HTTP would show everything to the network. Serve on 127.0.0.1 and reach it by ssh -L, or through a proxy with TLS.`,
    )
  return { host, port }
}

export const isLoopback = (host: string) =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
