import type { Io } from '../../core/io.ts'
import { existsSync } from 'node:fs'
import { wordsOf } from '../../base/words.ts'
import { say } from '../../core/io.ts'
import { homeOf, placeOf } from '../place.ts'
import { readSettings } from '../../settings/settings.ts'

/** Ends an agent of any crew; false, and why, when it could not be. */
export async function killSlot(io: Io, { workspace, id }: { workspace: string; id: number }): Promise<boolean> {
  const [{ openCrews }, { livingSlots }] = await Promise.all([import('./crews.ts'), import('./workspaces.ts')])
  const slots = await livingSlots(homeOf(io.env), io.clock)
  const cwd = slots.find((slot) => slot.workspace === workspace && slot.id === id)?.cwd
  // Where it works: there its worktree is known.
  const place = placeOf(io, cwd !== undefined && existsSync(cwd) ? cwd : undefined)
  const settings = await readSettings({ home: place.home }, { env: io.env })
  const crews = openCrews(io, place, settings, { carries: false })
  try {
    await crews.of(workspace).crew.kill(id)
    return true
  } catch (error) {
    say(io, `termaite: ${wordsOf(error)}`)
    return false
  } finally {
    await crews.close()
  }
}
