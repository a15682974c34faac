import type { Check } from '../check/kinds.ts'

/** One approach as it is ranked, the best first. */
export type Ranked = { name: string; how: string; needs: readonly string[]; why: string; check?: Check }

/** One that is not tried, and why. */
export type Dropped = { name: string; why: string }

/** What came of the advice; `by`: who weighed it, nobody where it was only counted. */
export type Verdict = { ranked: Ranked[]; dropped: Dropped[]; dissent: string; by?: string }

/** So many approaches are worth trying before a person should look. */
export const mostTried = 4
