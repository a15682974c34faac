import type { Terminal, TerminalHost } from '../../core/screen/terminal.ts'
import type { Io } from '../../core/io.ts'
import type { Settings } from '../../settings/settings.ts'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { shortHash } from '../../base/hash.ts'
import { homeOf } from '../place.ts'
import { lendTerminals, terminalsElsewhere } from './lending.ts'
import { sweepTerminals } from './sweeping.ts'

/** Where what is kept of terminals lies in our home. */
export const terminalsFolder = (home: string) => join(home, 'terminals')

/** The terminals of a run, opened when the first is needed. */
export type Terminals = {
  host(): Promise<TerminalHost>
  find(id: string): Promise<Terminal | undefined>
  /** Whether what runs in them goes on without us; as long as there are none, nothing ends with us. */
  outlives(): boolean
  close(): Promise<void>
}

export type TerminalWishes = {
  /** Whether this process opens them for others: who may then see and type into those that only we can show. */
  lends: boolean
  /** Told why they are not what a person would like best. */
  warn?(words: string): void
}

export function terminalsOf(io: Io, settings: Settings, { lends, warn }: TerminalWishes): Terminals {
  const home = homeOf(io.env)
  const elsewhere = terminalsElsewhere(home, io.clock)
  let opened: Promise<TerminalHost> | undefined
  let outlives = true
  let lent: { close(): Promise<void> } | undefined
  let swept: Promise<void> | undefined
  const closed = new AbortController()
  const open = async () => {
    const { openHost } = await import('../../terminals/open-host.ts')
    const parts = { folder: terminalsFolder(home), env: io.env, clock: io.clock, socket: socketOf(home) }
    const { host, why } = await openHost(settings.terminals.host, parts)
    if (why !== undefined) warn?.(why)
    outlives = host.outlives
    if (lends && !outlives) lent = lendTerminals(home, host, io.clock)
    if (lends && outlives) swept = sweepTerminals({ home, folder: parts.folder }, host, io.clock, closed.signal)
    return host
  }
  const host = () => (opened ??= open())
  return {
    host,
    find: async (id) => (await (await host()).find(id)) ?? (outlives ? undefined : elsewhere.find(id)),
    outlives: () => outlives,
    async close() {
      closed.abort()
      const open = await opened?.catch(() => undefined)
      await swept
      await Promise.all([lent?.close(), elsewhere.close(), open?.close()])
    },
  }
}

/** Homes do not see each other's panes: only the usual one, as the system knows it, has the usual name. */
function socketOf(home: string): string {
  return home === usualHome() ? 'termaite' : `termaite-${shortHash(home)}`
}

function usualHome(): string | undefined {
  try {
    return join(userInfo().homedir, '.termaite')
  } catch {
    return undefined
  }
}
