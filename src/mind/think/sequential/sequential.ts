import type { Event } from '../../../core/talk/entry.ts'
import type { Outcome } from '../../../core/talk/outcome.ts'
import type { Agreement } from '../consent.ts'
import type { Course } from '../course.ts'
import type { Way } from '../thinker.ts'
import type { Tried } from '../unmet.ts'
import type { Finding } from './finding.ts'
import type { Hypothesis } from './hypothesis.ts'
import { note } from '../course.ts'
import { assign } from '../minds.ts'
import { thinker } from '../thinker.ts'
import { unmet } from '../unmet.ts'
import { clipped, firstLine } from '../words.ts'
import { decided } from './decision.ts'
import { lineOf } from './finding.ts'
import { goesFurther } from './further.ts'
import { diagnosis } from './hypothesis.ts'
import { mended } from './mend.ts'
import { observed } from './observation.ts'
import { answeringWords, namingWords, unaidedWords } from './prompts.ts'
import { Untested } from './untested.ts'

const roles = ['diagnostician', 'decider']

/** Hypothesis, diagnostic, observation, decision: until a cause is confirmed and mended, or none is left. */
export const sequential = (agreement: Agreement): Way => ({
  asks: (minds) => assign(roles, minds),
  rounds: 2,
  agent: (minds) => thinker('sequential', minds, (course) => chain(agreement, course)),
})

async function* chain(agreement: Agreement, course: Course): AsyncGenerator<Event, Outcome> {
  const [diagnostician, decider] = assign(roles, course.minds)
  yield course.phase('naming what may be the cause')
  const named = yield* course.askFor(diagnostician!, namingWords(course), diagnosis)
  if (course.over) return course.over
  if (!named.ok) {
    yield note(`nobody could name a cause that can be tested (${firstLine(named.why)}): taken directly`)
    return yield* course.act(unaidedWords(named.words, course))
  }
  const { wants, hypotheses } = named.value
  const untested = new Untested(hypotheses)
  const found: Finding[] = []
  for (let next = untested.next(); next; next = untested.next()) {
    const left = [next, ...untested.left]
    const go = found.length !== 1 || (yield* goesFurther(left, decider!, agreement, course))
    if (course.over) return course.over
    if (!go) return yield* unaided(found, left, course)
    const observation = yield* observed(next, course)
    if (course.over) return course.over
    const finding = yield* decided(next, observation, found, decider!, course)
    if (course.over) return course.over
    found.push(finding)
    yield note(lineOf(finding))
    if (finding.verdict === 'confirmed') {
      if (wants === 'answer') return yield* answered(found, course)
      const { outcome, failed } = yield* mended(found, course)
      const [fruitless] = failed
      if (course.over) return course.over
      if (!fruitless) return outcome
      found.splice(-1, 1, disproved(finding, fruitless.evidence))
    }
    untested.learn(found)
  }
  course.passed = false
  return yield* unmet(clipped(course.turn.prompt, 300), found.map(triedIn), found.flatMap(knownIn))
}

/** Whoever acts goes on by its own mind, from what is known. */
async function* unaided(
  found: readonly Finding[],
  left: readonly Hypothesis[],
  course: Course,
): AsyncGenerator<Event, Outcome> {
  yield note('the other causes are not tested: taken directly')
  const words = [...found.map(lineOf), ...left.map(({ cause }) => `not tested: ${firstLine(cause)}`)]
  return yield* course.act(unaidedWords(words.join('\n'), course))
}

async function* answered(found: readonly Finding[], course: Course): AsyncGenerator<Event, Outcome> {
  yield course.phase('answering on what was found')
  return yield* course.act(answeringWords(found, course))
}

/** What is mended without any effect was not the cause. */
const disproved = (finding: Finding, evidence: string): Finding => ({
  ...finding,
  verdict: 'rejected',
  why: `it seemed confirmed, was mended twice, and still ${evidence}`,
})

const triedIn = ({ hypothesis, verdict, why }: Finding): Tried => ({
  what: firstLine(hypothesis.cause),
  seen: `${verdict}, ${clipped(why, 600)}`,
})

const knownIn = ({ quote, where }: Finding) => (quote === undefined ? [] : [`${where}: ${clipped(quote.trim(), 300)}`])
