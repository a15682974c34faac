import type { Event } from '../../../core/talk/entry.ts'
import type { Course } from '../course.ts'
import type { Asked } from '../minds.ts'
import type { Finding } from './finding.ts'
import type { Hypothesis } from './hypothesis.ts'
import type { Observation } from './observation.ts'
import { list, oneOf, optional, string } from '../../../core/work/shape.ts'
import { answerShape } from '../answer.ts'
import { holds } from '../check/judge.ts'
import { checkField, checkIn } from '../check/kinds.ts'
import { verdicts } from './finding.ts'
import { hypothesisField } from './hypothesis.ts'
import { decidingWords } from './prompts.ts'

const decision = answerShape({
  verdict: oneOf(...verdicts),
  quote: optional(string()),
  file: optional(string()),
  why: string(),
  check: optional(checkField),
  more: optional(list(hypothesisField)),
})

/** What an observation says about a hypothesis: a verdict whose quote stands nowhere decides nothing. */
export async function* decided(
  hypothesis: Hypothesis,
  observation: Observation,
  before: readonly Finding[],
  decider: Asked,
  course: Course,
): AsyncGenerator<Event, Finding> {
  yield course.phase(`deciding: ${hypothesis.cause}`)
  const told = yield* course.askFor(decider, decidingWords(hypothesis, observation, before, course), decision)
  const open = { hypothesis, observation, verdict: 'unclear' as const, more: [] }
  if (!told.ok) return { ...open, why: `nobody could decide: ${told.why}` }
  const { verdict, quote = '', file = '', why, check: proposed, more = [] } = told.value
  if (verdict === 'unclear') return { ...open, why, more }
  const where = await placeOf(quote, file, observation, course)
  if (where === undefined)
    return {
      ...open,
      why: `${told.by} says ${verdict}, but its quote stands nowhere in what was seen: ${quote || 'nothing'}`,
      more,
    }
  const check = checkIn(proposed)
  return { hypothesis, observation, verdict, why, quote, where, ...(check ? { check } : {}), more }
}

/** Where the quoted words stand: in what the diagnostic printed, or in the file that was named. */
async function placeOf(quote: string, file: string, { command, output = '' }: Observation, { minds }: Course) {
  if (holds(output, quote)) return `\`${command}\``
  const text = file === '' ? undefined : await minds.hands.read(file).catch(() => undefined)
  return holds(text ?? '', quote) ? file : undefined
}
