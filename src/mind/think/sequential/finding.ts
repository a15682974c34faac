import type { Check } from '../check/kinds.ts'
import type { Hypothesis } from './hypothesis.ts'
import type { Observation } from './observation.ts'
import { clipped, firstLine, quoted } from '../words.ts'

export const verdicts = ['confirmed', 'rejected', 'unclear'] as const

/** What was found out about one hypothesis. `quote`: the words that show it, `where` they stand. */
export type Finding = {
  hypothesis: Hypothesis
  observation: Observation
  verdict: (typeof verdicts)[number]
  why: string
  quote?: string
  where?: string
  /** What would show that it is mended. */
  check?: Check
  more: readonly Hypothesis[]
}

/** One quiet line for whoever reads the conversation later. */
export function lineOf({ verdict, hypothesis, quote, where, why }: Finding): string {
  const shown = quote === undefined ? firstLine(why) : `${where}: ${firstLine(quote.trim())}`
  return `${verdict}: ${firstLine(hypothesis.cause)} (${shown})`
}

/** The same for whoever decides or acts next. */
export function findingWords({ verdict, hypothesis, why, quote, where }: Finding): string {
  const seen = quote === undefined ? '' : `\nseen in ${where}: ${clipped(quote.trim(), 1_000)}`
  return quoted('finding', `${verdict}: ${hypothesis.cause}${seen}\n${clipped(why, 1_000)}`)
}
