import type { Event } from '../../../core/talk/entry.ts'
import type { Outcome } from '../../../core/talk/outcome.ts'
import type { Course } from '../course.ts'
import type { Way } from '../thinker.ts'
import type { Tried } from '../unmet.ts'
import type { Critique } from './flaw.ts'
import { note } from '../course.ts'
import { takenBack } from '../take-back.ts'
import { thinker } from '../thinker.ts'
import { unmet } from '../unmet.ts'
import { clipped, firstLine } from '../words.ts'
import { criticised, criticOf } from './critique.ts'
import { mendingWords, refiningWords, writingWords } from './prompts.ts'
import { Proof } from './proof.ts'
import { workOf } from './work.ts'

/** Generate, criticise by somebody else, refine, verify by the project's own tests. */
export const reflect: Way = {
  // Who acts is not known before; the first who is well is the likeliest.
  asks: (minds) => [criticOf(minds, minds.readers[0]!)],
  rounds: 1,
  agent: (minds) => thinker('reflect', minds, reflection),
}

async function* reflection(course: Course): AsyncGenerator<Event, Outcome> {
  const mark = await course.minds.rewind?.mark()
  yield course.phase('making it')
  const made = yield* course.act(writingWords(course))
  if (!isMade(made)) return made
  const critique = yield* criticised(await workOf(made.text, mark, course), course)
  if (course.over) return course.over
  if (critique.flaws.length === 0 && critique.words === undefined) return yield* proven(made, critique, mark, course)
  yield course.phase('mending what was found')
  const refined = yield* course.act(refiningWords(critique))
  return isMade(refined) ? yield* proven(refined, critique, mark, course) : refined
}

/** So often in a row the check may fail. */
const mostFailures = 2

/** Until it is shown to work; what fails twice is told as it is, and may be taken back. */
async function* proven(
  made: Made,
  critique: Critique,
  mark: string | undefined,
  course: Course,
): AsyncGenerator<Event, Outcome> {
  const proof = new Proof(critique.flaws, course)
  const tried: Tried[] = []
  for (let outcome = made; ;) {
    const seen = yield* proof.look(await workOf(outcome.text, mark, course))
    if (course.over) return course.over
    course.passed = seen.passed
    if (seen.passed) return outcome
    const what = tried.length === 0 ? 'what was made' : 'what was mended after that'
    tried.push({ what, seen: clipped(seen.evidence, 600) })
    if (tried.length === mostFailures) break
    yield note(`the check failed: ${firstLine(seen.evidence)}; it is mended once more`)
    yield course.phase('mending what the check showed')
    const again = yield* course.act(mendingWords(seen))
    if (!isMade(again)) return again
    outcome = again
  }
  yield note(`the check failed ${mostFailures} times; there is nothing left to try`)
  if (mark !== undefined) yield* takenBack('the work', mark, course)
  if (course.over) return course.over
  const known = critique.flaws.map(({ where, what }) => `${critique.by} found in ${where}: ${clipped(what, 300)}`)
  return yield* unmet(clipped(course.turn.prompt, 300), tried, known)
}

type Made = Outcome & { ok: true }

/** Whoever could not act, or wants to know something first, has made nothing yet. */
const isMade = (outcome: Outcome): outcome is Made => outcome.ok && outcome.asks === undefined
