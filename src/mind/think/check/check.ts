import type { Event } from '../../../core/talk/entry.ts'
import type { Course } from '../course.ts'
import type { Check } from './kinds.ts'
import type { Done, Seen } from './seen.ts'
import { isForbidden } from '../../../core/work/perform.ts'
import { clipped, firstLine } from '../words.ts'
import { judged } from './judge.ts'
import { checkName } from './kinds.ts'

/** Looks whether something was reached. */
export async function* checked(check: Check, done: Done, course: Course): AsyncGenerator<Event, Seen> {
  yield course.phase(`checking: ${checkName(check)}`)
  if (check.kind === 'judge') return yield* judged(check.question, done, course)
  return check.kind === 'file' ? fileSeen(check, course) : yield* commandSeen(check, course)
}

const longestEvidence = 4_000

async function* commandSeen(check: Check & { kind: 'command' }, course: Course): AsyncGenerator<Event, Seen> {
  const input = { command: check.command, timeout_seconds: 600 }
  const result = yield* course.minds.hands.use('bash', input, course.turn)
  const { ok, text, data } = result
  const told = clipped(text, longestEvidence)
  // The whole of it stands with the call.
  const ran = `\`${firstLine(check.command)}\``
  if (isForbidden(result)) return { passed: false, evidence: `${ran} was not allowed: ${told}`, refused: true }
  const exit = exitOf(data)
  const printed = check.prints === undefined || text.includes(check.prints)
  const missed = printed ? '' : ` and did not print ${JSON.stringify(check.prints)}`
  const how = !ok || exit === undefined ? 'could not be run to its end' : `exited with ${exit}${missed}`
  return { passed: ok && exit === 0 && printed, evidence: `${ran} ${how}:\n${told}` }
}

async function fileSeen({ path, holds }: Check & { kind: 'file' }, { minds }: Course): Promise<Seen> {
  const text = await minds.hands.read(path).catch(() => undefined)
  if (text === undefined) return { passed: false, evidence: `${path} does not exist or cannot be read` }
  if (holds === undefined || text.includes(holds))
    return {
      passed: true,
      evidence: `${path} is there${holds === undefined ? '' : ` and holds ${JSON.stringify(holds)}`}`,
    }
  return {
    passed: false,
    evidence: `${path} does not hold ${JSON.stringify(holds)}:\n${clipped(text, longestEvidence)}`,
  }
}

const exitOf = (data: unknown) => (data as { exit?: number | string } | undefined)?.exit
