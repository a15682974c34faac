import type { Io } from '../io.ts'
import { wordsOf } from '../../base/words.ts'
import { say } from '../io.ts'
import { placeOf } from '../place.ts'
import { readSettings } from '../settings/settings.ts'

/** Ends an agent of any crew; false, and why, when it could not be. */
export async function killSlot(io: Io, { workspace, id }: { workspace: string; id: number }): Promise<boolean> {
  const { openCrews } = await import('./crews.ts')
  const place = placeOf(io)
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
