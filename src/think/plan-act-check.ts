import type { Event } from '../core/talk/entry.ts'
import type { Outcome } from '../core/talk/outcome.ts'
import type { Check, CheckResult } from './goal-check.ts'
import type { ThinkingTurn } from './thinking-turn.ts'
import { defined } from '../base/defined.ts'
import { failed } from '../core/talk/outcome.ts'
import { runCheck } from './goal-check.ts'
import { clipped, firstLine, quoted } from './prompt-text.ts'
import { offerRevert } from './revert-offer.ts'
import { note } from './thinking-turn.ts'

/** One way to reach a goal, with its own check if it has one. */
export type Approach = { name: string; how: string; check?: Check }

/** `another` finds one more approach after all have failed; `then` describes the next step if no approach is left. */
export type Goal = {
  task: string
  check: Check
  /** The approaches, in the order in which they are tried. */
  approaches: readonly Approach[]
  another?(failed: readonly FailedApproach[]): AsyncGenerator<Event, Approach | undefined>
  then?: string
}

/** An approach that failed twice, the evidence for that, and the fate of its changes. */
export type FailedApproach = { approach: Approach; evidence: string; changes?: string }

/**
 * The result of pursuing a goal. `by`: the approach that reached it, or that was finished without permission to check it. `outcome` is
 * that of the last act; `seen` is missing if the turn ended before anything could be checked.
 */
export type Pursuit = { outcome: Outcome; by?: Approach; seen?: CheckResult; failed: FailedApproach[] }

/** How many characters of a task are repeated, in case a history that was shortened has lost them. */
const longestReminder = 2_000

/** An approach is abandoned after this many consecutive failures. */
const mostFailures = 2

/** Plans, acts and checks: an approach that failed twice in a row is replaced by the next best one, and never tried again. */
export async function* pursue(goal: Goal, thinking: ThinkingTurn): AsyncGenerator<Event, Pursuit> {
  const failures: FailedApproach[] = []
  const left = [...goal.approaches]
  let last: Outcome | undefined
  for (let approach = left.shift(); approach;) {
    const mark = await thinking.resources.checkpoints?.mark().catch(() => undefined)
    const { outcome, seen } = yield* tryApproach(goal, approach, failures, mark, thinking)
    last = outcome
    thinking.passed = seen && seen.undecided === undefined ? seen.passed : undefined
    if (!seen || seen.passed || seen.undecided) return defined({ outcome, seen, by: approach, failed: failures })
    const failure: FailedApproach = { approach, evidence: seen.evidence }
    const next: Approach | undefined = left.shift() ?? (goal.another && (yield* goal.another([...failures, failure])))
    if (thinking.over) return { outcome: thinking.over, failed: failures }
    const after = next ? `stepping back to ${next.name}` : (goal.then ?? 'nothing is left to try')
    yield note(`${approach.name} failed ${mostFailures} times (${firstLine(seen.evidence)}); ${after}`)
    const changes = mark === undefined ? undefined : yield* offerRevert(approach.name, mark, thinking)
    failures.push(defined({ ...failure, changes }))
    if (thinking.over) return { outcome: thinking.over, failed: failures }
    approach = next
  }
  return { outcome: last ?? failed('unmet', 'there was nothing to try'), failed: failures }
}

/** Acts on one approach until its check passes, or fails twice. */
async function* tryApproach(
  goal: Goal,
  approach: Approach,
  failures: readonly FailedApproach[],
  mark: string | undefined,
  thinking: ThinkingTurn,
): AsyncGenerator<Event, { outcome: Outcome; seen?: CheckResult }> {
  const { checkpoints } = thinking.resources
  let seen: CheckResult | undefined
  for (let time = 1; ; time++) {
    yield thinking.phase(`${approach.name}${time > 1 ? ', once more' : ''}`)
    const outcome = yield* thinking.act(approachPrompt(goal.task, approach, failures, seen, thinking))
    // If the agent could not act, or first asks a question, that says nothing about the approach.
    if (!outcome.ok || outcome.asks !== undefined) return { outcome }
    const changes = mark === undefined ? undefined : await checkpoints?.since(mark).catch(() => undefined)
    const done = { task: goal.task, reply: outcome.text, patch: changes?.patch }
    seen = yield* runCheck(approach.check ?? goal.check, done, thinking)
    if (thinking.over) return { outcome: thinking.over }
    if (seen.undecided) yield note(`the result could not be checked: ${firstLine(seen.evidence)}`)
    if (seen.passed || seen.undecided || time === mostFailures) return { outcome, seen }
    yield note(`the check failed: ${firstLine(seen.evidence)}; trying ${approach.name} once more`)
  }
}

/** The prompt for one act. Earlier acts are part of the agent's history, so a long task is only repeated in short. */
export function approachPrompt(
  task: string,
  { name, how }: Approach,
  failures: readonly FailedApproach[],
  seen: CheckResult | undefined,
  { resources }: ThinkingTurn,
): string {
  const reminder = `The task is still:\n${clipped(task, longestReminder)}`
  if (seen)
    return [
      reminder,
      'The work was done, and its check failed. Find out why, and fix it:',
      quoted('check', seen.evidence),
    ].join('\n\n')
  const before = failures.map(({ approach, evidence, changes }) =>
    quoted('failed', [approach.name, clipped(evidence, 2_000), changes ?? ''].join('\n').trim()),
  )
  return [
    ...(before.length > 0
      ? [reminder, 'These approaches were tried, and failed; do not try them again:', ...before]
      : [task, resources.machine.description]),
    quoted('approach', `${name}\n${how}`.trim()),
    'The approach is the advice of other agents: weigh it, then do the work that way, and say what you did.',
  ].join('\n\n')
}
