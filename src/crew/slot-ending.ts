import type { Terminal } from '../core/screen/terminal.ts'
import type { Blobs, Ref } from '../core/talk/store.ts'
import type { Worktree } from '../core/work/worktree.ts'
import type { CrewParts } from './crew-parts.ts'
import type { SlotLedger } from './slot-ledger.ts'
import type { LivingSlot, Slot } from './slot.ts'
import { messageOf } from '../base/error-message.ts'
import { blobsOf } from './slot-ledger.ts'
import { goneSlot } from './slot-moves.ts'
import { isGone } from './slot.ts'

/** How many rows of a terminal are stored when it is closed. */
const keptRows = 1_000

/** Stores the last rows of a terminal; undefined if it cannot be read any more. */
export async function lastScreen(terminal: Terminal | undefined, blobs: Blobs): Promise<Ref | undefined> {
  const shown = await terminal?.history(keptRows).catch(() => undefined)
  return shown && blobs.put(shown.join('\n'), 'text/plain')
}

/** Ends a slot permanently: closes its terminal, removes its worktree or reports why it stays, and stores the reason. */
export async function endSlot(
  parts: Pick<CrewParts, 'store' | 'workspace' | 'owner' | 'find' | 'worktrees'>,
  ledger: SlotLedger,
  id: number,
  end: { state: 'exited' | 'failed'; why: string; screen?: Ref },
): Promise<Slot | undefined> {
  const found = await ledger.slot(id)
  if (!found || isGone(found)) return found
  const terminal = await parts.find(found.terminal.id).catch(() => undefined)
  const screen = end.screen ?? (await lastScreen(terminal, blobsOf(parts.store, parts.workspace)))
  await terminal?.close().catch(() => {})
  const tree = await clearTree(parts, found)
  const why = [end.why, ...unsentPrompts(found), ...tree.notes].filter((part) => part !== '').join('; ')
  return ledger.edit(id, (slot) => {
    const isOthers = slot.owner !== undefined && slot.owner !== parts.owner
    return isOthers || isGone(slot)
      ? undefined
      : goneSlot(slot, { state: end.state, why, screen, worktree: tree.worktree })
  })
}

/** Says how many prompts were not sent. The task of an agent that never began does not count. */
function unsentPrompts({ queue, last, flight }: LivingSlot): string[] {
  const count = queue.length - (last || flight ? 0 : 1)
  if (count <= 0) return []
  return [count === 1 ? 'one message was not sent' : `${count} messages were not sent`]
}

/** Removes a worktree if it has no work; returns it, with the reason, if it stays. */
async function clearTree(
  { worktrees }: Pick<CrewParts, 'worktrees'>,
  { worktree }: Slot,
): Promise<{ worktree?: Worktree; notes: string[] }> {
  if (!worktree?.made || !worktrees) return { notes: [] }
  try {
    const cleared = await worktrees.clear(worktree)
    return cleared.gone ? { notes: [] } : { worktree, notes: [cleared.why] }
  } catch (error) {
    return { worktree, notes: [`its worktree ${worktree.path} is kept: ${messageOf(error)}`] }
  }
}
