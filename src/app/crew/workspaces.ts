import type { Clock } from '../../base/clock.ts'
import type { Slot } from '../../crew/slot.ts'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { allOf, isOver } from '../../crew/slot.ts'
import { Ledger } from '../../crew/ledger.ts'
import { fileStore } from '../../store/files/store.ts'

/** Every workspace of a home that ever had a crew. */
export function workspacesOf(home: string): string[] {
  try {
    return readdirSync(join(home, 'crew'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .sort()
  } catch {
    return []
  }
}

export type LivingSlot = Slot & { workspace: string }

/** Every agent of every crew that is not gone; a crew that cannot be read counts none. */
export async function livingSlots(home: string, clock: Clock): Promise<LivingSlot[]> {
  const store = fileStore(home, { clock })
  const found = await Promise.all(
    workspacesOf(home).map(async (workspace) => {
      const slots = await new Ledger(store, workspace, clock).read().catch(() => undefined)
      return (slots ? allOf(slots) : []).filter((slot) => !isOver(slot)).map((slot) => ({ ...slot, workspace }))
    }),
  )
  return found.flat()
}
