import type { Clock } from '../../base/clock.ts'
import type { TerminalHost } from '../../core/screen/terminal.ts'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { livingSlots } from './workspaces.ts'

/** What changed within this time may still be on its way to somebody. */
const freshMs = 3_600_000

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Lets a host look once at what it kept of terminals that no agent has: it takes away what is left of those that are gone. */
export async function sweepTerminals(
  { home, folder }: { home: string; folder: string },
  host: Pick<TerminalHost, 'find'>,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const old = left(folder, clock.now() - freshMs)
  if (old.length === 0) return
  const used = new Set((await livingSlots(home, clock)).map(({ terminal }) => terminal?.id))
  for (const id of old) if (!used.has(id) && !signal.aborted) await host.find(id).catch(() => undefined)
}

function left(folder: string, before: number): string[] {
  try {
    return readdirSync(folder).filter((name) => uuid.test(name) && statSync(join(folder, name)).mtimeMs < before)
  } catch {
    return []
  }
}
