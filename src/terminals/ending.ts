import type { Clock } from '../base/clock.ts'
import { endWhole } from '../base/process/end.ts'
import { kinOf } from '../base/process/kin.ts'

/** The variable by which all that a run brought into the world is found: see src/base/process/run.ts. */
export const markVariable = 'TERMAITE_RUN'

/** What all that runs in a terminal carries; an id alone is in the names of files as well. */
export const markOf = (id: string) => `terminal-${id}`

/** No process group has this number. */
const noGroup = 2 ** 31 - 1

/**
 * Ends a terminal's shell and all that was started below it, and looks until nobody is left.
 * Without a leader, because it is gone and its number may be a stranger's, those who carry the mark.
 */
export async function endProgram(id: string, leader: number | undefined, clock: Clock): Promise<void> {
  const group = leader ?? noGroup
  await endWhole(group, kinOf(group, markOf(id)), clock)
}
