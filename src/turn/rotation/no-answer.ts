import type { Failure, Outcome } from '../../core/talk/outcome.ts'
import type { Away } from './health.ts'
import { localTimeFrom } from '../../base/time/local-time.ts'
import { failed, failureSentence } from '../../core/talk/outcome.ts'

/** The fate of each agent in a turn that no agent answered. */
type Tally = {
  tried: { name: string; failure: Failure }[]
  /** Agents that were not asked because they are out of quota, busy or cooling down. */
  away: Absent[]
  /** Agents that were not asked because this process had already excluded them. */
  out: { name: string; failure: Failure }[]
  /** Agents that were not asked because the person did not want to share the conversation with them. */
  unshared: string[]
}

export const newTally = (): Tally => ({ tried: [], away: [], out: [], unshared: [] })

/** An agent that will be available again after a wait. */
export type Absent = { name: string; away: Away }

export function firstBack(absent: readonly Absent[]): Absent | undefined {
  return absent.toSorted((a, b) => a.away.until - b.away.until)[0]
}

/** The failure of a turn that no agent answered; `absent` are the agents that will be available again after a wait. */
export function noAnswer(tally: Tally, absent: readonly Absent[], now: number): Outcome {
  const first = firstBack(absent)
  /**
   * The reasons why no agent gave an answer, as text; the reason of `timed` is without its time, because the sentence mentions that
   * elsewhere.
   */
  const told = (timed?: Absent) =>
    [
      ...tally.tried.map(({ name, failure }) => failureSentence(name, failure)),
      ...tally.away.map(({ name, away }) => `${name} ${awaySentence(away, now, name !== timed?.name)}`),
      ...tally.out.map(({ name, failure }) => failureSentence(name, failure)),
      ...tally.unshared.map((name) => `${name}: not asked, because the conversation is not shared with it`),
    ].join('; ')
  // The last failure that is worse than a spent quota or a busy provider decides the kind of the outcome.
  const fault = tally.tried.findLast(({ failure }) => failure.kind !== 'quota' && failure.kind !== 'busy')
  if (fault) return failed(fault.failure.kind, `no agent could answer: ${told()}`)
  if (tally.tried.length === 0 && tally.unshared.length > 0)
    return failed(
      'denied',
      `no agent is left to answer: ${told()}; allow it when termaite asks in a terminal, or set "sharing" to "all" in the settings`,
    )
  if (first) {
    const kind = first.away.as === 'parked' ? 'quota' : 'busy'
    const next = `\`termaite doctor\` checks again now; ${first.name} is the first one back`
    // Every face adds the time of the failure, so the message must not contain the time too.
    return failed(kind, `no agent is free: ${told(first)}; ${next}`, first.away.until)
  }
  return failed((tally.out.at(-1) ?? tally.tried.at(-1))?.failure.kind ?? 'missing', `no agent can answer: ${told()}`)
}

const stateWords: Record<Away['as'], string> = { parked: 'out of quota', busy: 'busy', 'cooling down': 'cooling down' }

/** Why an agent is not asked, and until when. */
export function awayWords({ as, until }: Away, now: number): string {
  return until <= now
    ? `was ${stateWords[as]}, and is free again`
    : `${stateWords[as]} until ${localTimeFrom(now, until)}`
}

/** Formats a reason as the rest of a sentence after the agent's name, with or without the time. */
function awaySentence(away: Away, now: number, timed: boolean): string {
  if (away.until <= now) return awayWords(away, now)
  return `is ${timed ? awayWords(away, now) : stateWords[away.as]}`
}
