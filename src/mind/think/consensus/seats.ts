import type { Asked, Minds } from '../minds.ts'
import { assign } from '../minds.ts'
import { roles } from './advisors.ts'

export const seatsOf = (minds: Pick<Minds, 'readers' | 'assigned'>): Asked[] => assign(roles, minds)

/** Whom the person set, else whoever advises least, so that nobody only hears itself; who gave no answer is not asked again. */
export function chairOf(
  { readers, assigned }: Pick<Minds, 'readers' | 'assigned'>,
  seats: readonly Asked[],
  silent: ReadonlySet<string> = new Set(),
): Asked {
  const burden = (name: string) => seats.filter(({ agent }) => agent === name).length
  const well = readers.filter((name) => !silent.has(name))
  const [least] = (well.length > 0 ? well : [...readers]).sort((a, b) => burden(a) - burden(b))
  return { role: 'chair', agent: assigned['chair'] ?? least! }
}
