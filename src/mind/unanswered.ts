import type { Failure, Outcome } from '../core/talk/outcome.ts'
import type { Away } from './health.ts'
import { failed } from '../core/talk/outcome.ts'

/** What became of each agent of a turn that nobody answered. */
export type Tally = {
  tried: { name: string; failure: Failure }[]
  /** Not asked, because it is parked, busy or cooling down. */
  away: Absent[]
  /** Not asked, because it was out for this process already. */
  out: { name: string; failure: Failure }[]
  /** Not asked, because the person did not want to share the conversation with it. */
  unshared: string[]
}

export const newTally = (): Tally => ({ tried: [], away: [], out: [], unshared: [] })

const passes = (failure: Failure) => failure.kind === 'quota' || failure.kind === 'busy'

/** An agent that only needs time. */
export type Absent = { name: string; away: Away }

export function firstBack(back: readonly Absent[]): Absent | undefined {
  return back.toSorted((a, b) => a.away.until - b.away.until)[0]
}

/** `back` is when and why each of those who only need time is there again. */
export function unanswered(tally: Tally, back: readonly Absent[], now: number): Outcome {
  const told = [
    ...tally.tried.map(({ name, failure }) => `${name}: ${failure.kind}: ${failure.message}`),
    ...tally.away.map(({ name, away }) => `${name}: ${stillAway(away, now)}`),
    ...tally.out.map(({ name, failure }) => `${name}: ${failure.kind}: ${failure.message}`),
    ...tally.unshared.map((name) => `${name}: was not given the conversation`),
  ].join('; ')
  // A spent quota says nothing of the others: what really went wrong names the kind.
  const fault = tally.tried.findLast(({ failure }) => !passes(failure))
  if (fault) return failed(fault.failure.kind, `no agent could answer: ${told}`)
  if (tally.tried.length === 0 && tally.unshared.length > 0)
    return failed(
      'denied',
      `nobody is left to answer: ${told}; say yes when you are asked on a terminal, or set "sharing" to "all"`,
    )
  const first = firstBack(back)
  if (first) {
    const kind = first.away.as === 'parked' ? 'quota' : 'busy'
    const next = `\`termaite doctor\` looks again now; ${first.name} is the first one back`
    return failed(kind, `no agent is free: ${told}; ${next}`, first.away.until)
  }
  return failed((tally.out.at(-1) ?? tally.tried.at(-1))?.failure.kind ?? 'missing', `no agent can answer: ${told}`)
}

/** How long and not until when: only a face knows the zone of whoever reads it. */
export function stillAway({ as, until }: Away, now: number): string {
  if (until <= now) return `was ${as}, and is free again`
  const minutes = Math.ceil((until - now) / 60_000)
  return `${as} for another ${minutes < 120 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`}`
}
