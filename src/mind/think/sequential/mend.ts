import type { Event } from '../../../core/talk/entry.ts'
import type { Check } from '../check/kinds.ts'
import type { Course } from '../course.ts'
import type { Pursuit } from '../pac.ts'
import type { Finding } from './finding.ts'
import { checked } from '../check/check.ts'
import { checkName } from '../check/kinds.ts'
import { pursue } from '../pac.ts'
import { projectChecks } from '../project-checks/project-checks.ts'
import { firstLine } from '../words.ts'
import { findingWords } from './finding.ts'

/** Mends a cause that was confirmed, until a check holds that did not before. */
export async function* mended(findings: readonly Finding[], course: Course): AsyncGenerator<Event, Pursuit> {
  const { hypothesis } = findings.at(-1)!
  const check = yield* checkFor(findings.at(-1)!, course)
  if (course.over) return { outcome: course.over, failed: [] }
  const how = [
    'The cause was looked for and confirmed. Mend it where it arises, not where it shows. What was found out:',
    ...findings.map(findingWords),
  ].join('\n')
  const approach = { name: `mending “${firstLine(hypothesis.cause)}”`, how }
  const then = 'it counts as not the cause'
  return yield* pursue({ task: course.turn.prompt, check, approaches: [approach], then }, course)
}

/** What holds before anything was mended shows nothing: the first that fails now, else somebody judges. */
async function* checkFor({ hypothesis, observation, check }: Finding, course: Course): AsyncGenerator<Event, Check> {
  const { command, exit = 0 } = observation
  const looked: Check = { kind: 'command', command }
  if (check?.kind === 'judge') return check
  if (check && checkName(check) !== checkName(looked) && (yield* failsNow(check, course))) return check
  if (exit !== 0) return looked
  const { checks } = await projectChecks(course.minds)
  const tests = checks.at(-1)
  if (tests && !course.over && (yield* failsNow(tests, course))) return tests
  return { kind: 'judge', question: `Is this cause gone, so that what the task is about works? ${hypothesis.cause}` }
}

async function* failsNow(check: Check, course: Course): AsyncGenerator<Event, boolean> {
  const { passed, refused } = yield* checked(check, { task: course.turn.prompt, reply: '' }, course)
  return !passed && !refused
}
