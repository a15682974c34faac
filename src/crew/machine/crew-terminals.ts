import type { Terminal, TerminalHost } from '../../core/screen/terminal.ts'
import type { Io } from '../../core/io.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { ConnectedPeer } from '../../wire/peer/peer-client.ts'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { shortHash } from '../../base/hash.ts'
import { homeOf } from '../../home/place.ts'
import { RunningTurns } from '../../core/turns/running-turns.ts'
import { peers, serveTurns } from '../../wire/peer/peers.ts'
import { readdirSync, statSync } from 'node:fs'
import { livingSlots } from './crew-workspaces.ts'

/** The folder of our home with the files that help find terminals again. */
export const terminalsFolder = (home: string) => join(home, 'terminals')

/** The terminals of a run; the host is opened when the first terminal is needed. */
export type Terminals = {
  host(): Promise<TerminalHost>
  find(id: string): Promise<Terminal | undefined>
  /** Whether programs in the terminals continue when this process ends; true while no terminal is open. */
  outlives(): boolean
  close(): Promise<void>
}

type TerminalOptions = {
  /** Whether other processes may see and type into terminals that live inside this process. */
  lends: boolean
  /** Whether the programs in the terminals are stopped with this process, even if the process is killed. */
  bound?: boolean
  /** Whether to look for terminals inside other processes even if this process itself uses tmux. */
  everywhere?: boolean
  /** Called with the reason if the preferred kind of terminal cannot be used. */
  warn?(words: string): void
}

export function terminalsOf(
  io: Pick<Io, 'env' | 'clock'>,
  settings: { terminals: Pick<Settings['terminals'], 'host'> },
  { lends, bound, everywhere = false, warn }: TerminalOptions,
): Terminals {
  const home = homeOf(io.env)
  const elsewhere = terminalsElsewhere(home, io.clock)
  let opened: Promise<TerminalHost> | undefined
  let outlives = true
  let lent: { close(): Promise<void> } | undefined
  let swept: Promise<void> | undefined
  const closed = new AbortController()
  const open = async () => {
    const { openHost } = await import('../../terminals/open-host.ts')
    const parts = { folder: terminalsFolder(home), env: io.env, clock: io.clock, socket: socketOf(home), bound }
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
    find: async (id) => (await (await host()).find(id)) ?? (outlives && !everywhere ? undefined : elsewhere.find(id)),
    outlives: () => outlives,
    async close() {
      closed.abort()
      const open = await opened?.catch(() => undefined)
      await swept
      await Promise.all([lent?.close(), elsewhere.close(), open?.close()])
    },
  }
}

/** Names the tmux socket. Each home has its own, so that homes do not see each other's panes; the usual home has the usual name. */
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

/** Lets other processes of the person see and type into the terminals of this process. */
function lendTerminals(home: string, host: TerminalHost, clock: Clock): { close(): Promise<void> } {
  const turns = new RunningTurns()
  turns.lend((id) => host.find(id))
  return serveTurns(home, turns, clock)
}

/** Finds terminals inside other processes of a home; connections stay open until `close`. */
function terminalsElsewhere(home: string, clock: Clock) {
  const met = new Map<string, ConnectedPeer>()
  return {
    async find(id: string): Promise<Terminal | undefined> {
      const known = await met.get(id)?.terminal(id)
      if (known) return known
      let found: Terminal | undefined
      for (const peer of await peers(home, clock)) {
        found ??= await peer.terminal(id)
        if (found && !met.has(id)) met.set(id, peer)
        else await peer.close()
      }
      return found
    },
    async close() {
      await Promise.all([...met.values()].map((peer) => peer.close()))
    },
  }
}

/** Newer files may belong to a terminal that is just being opened. */
const freshMs = 3_600_000

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Finds old terminals without a slot, and has the host remove the leftovers of those that are closed. */
export async function sweepTerminals(
  { home, folder }: { home: string; folder: string },
  host: Pick<TerminalHost, 'find'>,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const old = terminalIds(folder, clock.now() - freshMs)
  if (old.length === 0) return
  const used = new Set((await livingSlots(home, clock)).map(({ terminal }) => terminal?.id))
  for (const id of old) if (!used.has(id) && !signal.aborted) await host.find(id).catch(() => undefined)
}

/** The ids of the terminals that have files in a folder, or only of those whose files are older than a time. */
export function terminalIds(folder: string, before = Infinity): string[] {
  try {
    return readdirSync(folder).filter((name) => uuid.test(name) && statSync(join(folder, name)).mtimeMs < before)
  } catch {
    return []
  }
}
