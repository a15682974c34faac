import type { Event } from '../../../core/talk/entry.ts'
import type { Agreement } from '../consent.ts'
import type { Course } from '../course.ts'
import type { Asked } from '../minds.ts'
import type { Hypothesis } from './hypothesis.ts'
import { agreedTo, costOf, mostUnasked } from '../consent.ts'
import { count, firstLine } from '../words.ts'

/** The likeliest cause is tested unasked; whoever watches says yes before the others are, which may be many. */
export async function* goesFurther(
  left: readonly Hypothesis[],
  decider: Asked,
  agreement: Agreement,
  course: Course,
): AsyncGenerator<Event, boolean> {
  const { turn, minds, calls } = course
  if (agreement.agreed || !turn.attended || calls < mostUnasked) return true
  const asks = left.map(() => decider)
  const causes = `it was not the likeliest cause, and ${count(left.length, 'other')} may be it`
  const cost = `up to ${count(asks.length, 'extra call')} to ${decider.agent}, about ${costOf(asks, asks.length, minds, turn)}`
  const shown = left.map(({ cause, diagnostic }) => `${firstLine(cause)}: ${firstLine(diagnostic)}`).join('\n')
  const card = {
    text: `sequential: ${causes}. To test them takes ${cost}.`,
    shows: [{ type: 'text' as const, text: shown }],
  }
  const go = yield* agreedTo(card, agreement, turn)
  if (go) course.agree()
  return go
}
