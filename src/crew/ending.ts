import type { Terminal } from '../core/screen/terminal.ts'
import type { Ref, Blobs } from '../core/talk/store.ts'
import type { Ledger } from './ledger.ts'
import type { CrewParts } from './parts.ts'
import type { Slot } from './slot.ts'
import { messageOf } from '../base/error-message.ts'
import { blobsOf } from './kept.ts'

/** So many rows of a terminal are kept when it goes. */
const rows = 1_000

/** The last that a terminal showed; one that can no longer say has shown nothing. */
export async function lastScreen(terminal: Terminal | undefined, blobs: Blobs): Promise<Ref | undefined> {
  const shown = await terminal?.history(rows).catch(() => undefined)
  return shown && blobs.put(shown.join('\n'), 'text/plain')
}

/** Puts a slot down for good: what it lives in is ended, its worktree taken away or named, and why it went is kept. */
export async function ending(
  parts: CrewParts,
  ledger: Ledger,
  id: number,
  end: { state: 'exited' | 'failed'; why?: string | undefined; screen?: Ref | undefined },
): Promise<Slot | undefined> {
  const found = await ledger.slot(id)
  if (!found) return undefined
  const terminal = found.terminal && (await parts.find(found.terminal.id).catch(() => undefined))
  const screen = end.screen ?? (await lastScreen(terminal, blobsOf(parts.store, parts.workspace)))
  await terminal?.close().catch(() => {})
  const notes = [...(end.why === undefined ? [] : [end.why]), ...unsaid(found)]
  const worktree = await clearedTree(parts, found, notes)
  const why = notes.join('; ')
  return ledger.edit(id, ({ terminal: _t, flight: _f, asks: _a, wish: _w, worktree: _wt, why: _why, ...slot }) =>
    slot.owner !== undefined && slot.owner !== parts.owner
      ? undefined
      : {
          ...slot,
          state: end.state,
          queue: [],
          ...(why === '' ? {} : { why }),
          ...(screen ? { screen } : {}),
          ...(worktree ? { worktree } : {}),
        },
  )
}

/** Its task is not among them: whoever never began says enough. */
function unsaid({ queue, last, flight }: Slot): string[] {
  const count = queue.length - (last || flight ? 0 : 1)
  if (count <= 0) return []
  return [count === 1 ? 'one message was not sent' : `${count} messages were not sent`]
}

async function clearedTree({ worktrees }: CrewParts, { worktree }: Slot, notes: string[]) {
  if (!worktree?.made || !worktrees) return undefined
  try {
    const cleared = await worktrees.clear(worktree)
    if (cleared.gone) return undefined
    notes.push(cleared.why)
  } catch (error) {
    notes.push(`its worktree ${worktree.path} stays: ${messageOf(error)}`)
  }
  return worktree
}
