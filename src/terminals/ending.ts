import type { Clock } from '../base/clock.ts'
import { endWhole } from '../base/process/end.ts'
import { kinOf } from '../base/process/kin.ts'

/** The variable by which all that a run brought into the world is found: see src/base/process/run.ts. */
export const markVariable = 'TERMAITE_RUN'

/** No process group has this number. */
const noGroup = 2 ** 31 - 1

/**
 * Ends a terminal's shell and all that was started below it, and looks until nobody is left.
 * Without a leader, because it is gone and its number may be a stranger's, those who carry the mark.
 */
export async function endProgram(mark: string, leader: number | undefined, clock: Clock): Promise<void> {
  const group = leader ?? noGroup
  await endWhole(group, kinOf(group, mark), clock)
}
