import type { Event } from '../../../core/talk/entry.ts'
import type { Seen } from '../check/seen.ts'
import type { Course } from '../course.ts'
import type { Critique } from './flaw.ts'
import type { Work } from './work.ts'
import { checked } from '../check/check.ts'
import { judged } from '../check/judge.ts'
import { note } from '../course.ts'
import { firstLine } from '../pac.ts'
import { projectChecks } from '../project-checks/project-checks.ts'
import { flawWords } from './flaw.ts'

/** The project's own build and tests decide; somebody judges where there are none, or nobody lets them run. */
export async function* verified(work: Work, { flaws }: Critique, course: Course): AsyncGenerator<Event, Seen> {
  const passed: string[] = []
  let decides = true
  // Where no file changed, they would say nothing about the work.
  const own = work.files?.length === 0 ? { checks: [], missing: [] } : await projectChecks(course.minds)
  if (own.missing.length > 0) yield note(`not checked by ${own.missing.join(', ')}: not installed`)
  for (const check of own.checks) {
    const seen = yield* checked(check, work, course)
    if (course.over || (!seen.passed && !seen.refused)) return seen
    if (seen.passed) passed.push(firstLine(seen.evidence))
    else decides = false
    if (seen.refused) yield note(`not checked: ${firstLine(seen.evidence)}`)
  }
  if (decides && passed.length > 0) return { passed: true, evidence: passed.join('\n') }
  yield course.phase('judging it')
  const rest =
    flaws.length > 0 ? [' Is none of this left in it, unless it is shown to be wrong?', ...flaws.map(flawWords)] : []
  return yield* judged(['Does it do all that the task asks?', ...rest].join('\n'), work, course)
}
