import type { ScreenFacts } from '../../core/work/profile.ts'
import type { Screen } from '../../core/screen/terminal.ts'
import type { Sight } from './eye.ts'
import { idleRow } from '../../core/screen/reading.ts'
import { echoRow } from './since.ts'

/** Where a pasted text stood just before Enter. */
export type Standing = { row: string; below: number; found: boolean }

export function standing(screen: Screen, text: string, facts: ScreenFacts): Standing {
  const echo = echoRow(screen.rows, text)
  return { row: composerRow(screen, facts), below: screen.cursor.row - echo, found: echo >= 0 }
}

/** Whether the composer still holds what was pasted: asked of the profile, else seen by where the text and the cursor are. */
export function holds(screen: Screen, text: string, facts: ScreenFacts, then: Standing): boolean {
  if (facts.composer) return (facts.composer(screen) ?? '') !== ''
  if (!then.found) return composerRow(screen, facts) === then.row
  const echo = echoRow(screen.rows, text)
  if (echo < 0 || echo < idleRow(screen.rows, facts.reader)) return false
  // The cursor went on to another row, or stayed with the text.
  return screen.cursor.row - echo <= then.below
}

/** How long nothing is drawn behind a paste that is shown as something else. */
const stillMs = 100

/** Whether a paste is in sight: as itself, or as whatever the program puts in its place. */
export function arrived({ screen, quietMs }: Sight, text: string, facts: ScreenFacts, before: Screen): boolean {
  if (facts.composer) return (facts.composer(screen) ?? '') !== ''
  const echo = echoRow(screen.rows, text)
  if (echo >= 0 && echo !== echoRow(before.rows, text)) return true
  return quietMs >= stillMs && composerRow(screen, facts) !== composerRow(before, facts)
}

/** Whether the program waits for the next prompt: an idle mark that is only the echo's own does not say so. */
export function waits(screen: Screen, text: string, { composer, reader }: ScreenFacts): boolean {
  if (composer) return (composer(screen) ?? '') === ''
  const echo = echoRow(screen.rows, text)
  return echo < 0 || !reader.idle || idleRow(screen.rows, reader) > echo
}

/** The row that what is typed stands on: that of the idle mark, else that of the cursor. */
function composerRow({ rows, cursor }: Screen, { reader }: ScreenFacts): string {
  const idle = idleRow(rows, reader)
  return rows[idle < 0 ? cursor.row : idle] ?? ''
}
