import type { Event } from '../../core/talk/entry.ts'
import type { Outcome } from '../../core/talk/outcome.ts'
import type { Agreement } from '../cost-consent.ts'
import type { FrameworkDefinition, TriedWay } from '../framework-agent.ts'
import type { Check } from '../goal-check.ts'
import type { Pursuit } from '../plan-act-check.ts'
import type { RoleAssignment } from '../resources.ts'
import type { ThinkingTurn } from '../thinking-turn.ts'
import type { Finding } from './diagnosis.ts'
import type { Hypothesis } from './hypotheses.ts'
import { askAgreement, costWords } from '../cost-consent.ts'
import { failed } from '../../core/talk/outcome.ts'
import { SteppingBack } from '../consensus/council.ts'
import { frameworkAgent, giveUp } from '../framework-agent.ts'
import { checkName, resultCheck, runCheck } from '../goal-check.ts'
import { pursue } from '../plan-act-check.ts'
import { projectChecks } from '../project-checks.ts'
import { clipped, firstLine, plural, quoted } from '../prompt-text.ts'
import { assign } from '../resources.ts'
import { note } from '../thinking-turn.ts'
import { askDecider, findingLine, findingText, runDiagnostic } from './diagnosis.ts'
import { hypothesesPrompt, hypothesesShape, UntestedHypotheses } from './hypotheses.ts'

const roles = ['diagnostician', 'decider']

/** Hypothesis, diagnostic, observation, decision: until a cause is confirmed and fixed, or no hypothesis is left. */
export const sequential = (agreement: Agreement): FrameworkDefinition => ({
  asks: (resources) => assign(roles, resources),
  rounds: 2,
  agent: (resources) => frameworkAgent('sequential', resources, (thinking) => diagnose(agreement, thinking)),
  advice: { asks: (resources) => assign(roles, resources), advise: adviseCause },
})

/** How many causes advice tests; the others are listed with their diagnostics, for the caller to run. */
const mostAdvised = 3

/** Searches for the cause without fixing anything: the diagnostics may only read. */
async function* adviseCause(thinking: ThinkingTurn): AsyncGenerator<Event, Outcome> {
  const [diagnostician, decider] = assign(roles, thinking.resources) as [RoleAssignment, RoleAssignment]
  yield thinking.phase('naming possible causes')
  const named = yield* thinking.askFor(diagnostician, hypothesesPrompt(thinking), hypothesesShape)
  if (thinking.over) return thinking.over
  if (!named.ok) return named.words ? { ok: true, text: named.words } : failed('unmet', named.why)
  const untested = new UntestedHypotheses(named.value.hypotheses)
  const found: Finding[] = []
  for (let next = untested.next(); next && found.length < mostAdvised; next = untested.next()) {
    const observation = yield* runDiagnostic(next, thinking)
    if (thinking.over) return thinking.over
    const finding = yield* askDecider(next, observation, found, decider, thinking)
    if (thinking.over) return thinking.over
    found.push(finding)
    yield note(findingLine(finding))
    if (finding.verdict === 'confirmed') break
    untested.learn(found)
  }
  const left = untested.left.map(({ cause, diagnostic, expects }) =>
    [`- ${cause}`, `  test it with: ${diagnostic}`, `  expected: ${expects}`].join('\n'),
  )
  const [fix] = found.flatMap(({ verdict, check }) => (verdict === 'confirmed' && check ? [checkName(check)] : []))
  const text = [
    ...found.map(findingText),
    ...(fix === undefined ? [] : [`The cause is fixed when this passes: ${fix}`]),
    ...(left.length > 0 ? ['Possible causes that were not tested:', ...left] : []),
  ]
  return { ok: true, text: text.join('\n') }
}

async function* diagnose(agreement: Agreement, thinking: ThinkingTurn): AsyncGenerator<Event, Outcome> {
  const [diagnostician, decider] = assign(roles, thinking.resources) as [RoleAssignment, RoleAssignment]
  yield thinking.phase('naming possible causes')
  const named = yield* thinking.askFor(diagnostician, hypothesesPrompt(thinking), hypothesesShape)
  if (thinking.over) return thinking.over
  if (!named.ok) {
    yield note('no testable cause found; answering directly')
    return yield* thinking.act(unaidedPrompt(named.words, thinking))
  }
  const { wants, hypotheses } = named.value
  const untested = new UntestedHypotheses(hypotheses)
  const found: Finding[] = []
  for (let next = untested.next(); next; next = untested.next()) {
    const left = [next, ...untested.left]
    const go = found.length !== 1 || (yield* mayGoOn(left, decider, agreement, thinking))
    if (thinking.over) return thinking.over
    if (!go) return yield* actUnaided(found, left, thinking)
    const observation = yield* runDiagnostic(next, thinking)
    if (thinking.over) return thinking.over
    const finding = yield* askDecider(next, observation, found, decider, thinking)
    if (thinking.over) return thinking.over
    found.push(finding)
    yield note(findingLine(finding))
    if (finding.verdict === 'confirmed') {
      if (wants === 'answer') return yield* answer(found, thinking)
      const { outcome, failed } = yield* fixCause(finding, found, thinking)
      if (thinking.over) return thinking.over
      const [fruitless] = failed
      if (!fruitless) return outcome
      found.splice(-1, 1, disproved(finding, fruitless.evidence))
    }
    untested.learn(found)
  }
  return yield* stepBack(found, thinking)
}

/** No cause is left to test: the council is asked for other approaches, and each is tried. */
async function* stepBack(found: readonly Finding[], thinking: ThinkingTurn): AsyncGenerator<Event, Outcome> {
  const back = new SteppingBack(thinking)
  const failures = found.map((finding) => ({
    approach: { name: firstLine(finding.hypothesis.cause), how: '' },
    evidence: `${finding.verdict}: ${finding.why}`,
  }))
  const first = yield* back.next(failures)
  if (thinking.over) return thinking.over
  const tried = found.map(toTriedWay)
  if (first) {
    const pursuit = yield* back.pursue(first, failures, { check: resultCheck })
    if ('outcome' in pursuit) return pursuit.outcome
    tried.push(...pursuit.tried)
  }
  thinking.passed = false
  return yield* giveUp(clipped(thinking.turn.prompt, 300), tried, found.flatMap(knownFact))
}

/** The likeliest cause is tested without asking; a watching person must agree before the others are tested, which may be many. */
async function* mayGoOn(
  left: readonly Hypothesis[],
  decider: RoleAssignment,
  agreement: Agreement,
  thinking: ThinkingTurn,
): AsyncGenerator<Event, boolean> {
  const { turn, resources, calls } = thinking
  if (agreement.agreed || !turn.attended || calls < agreement.freeCalls) return true
  const asks = left.map(() => decider)
  const cost = `up to ${plural(asks.length, 'extra call')} to ${decider.agent}, about ${costWords(asks, asks.length, resources, turn)}`
  const text = `sequential: the likeliest cause is ruled out, and ${plural(left.length, 'other cause')} can be tested. That takes ${cost}.`
  const shown = left.map(({ cause, diagnostic }) => `${firstLine(cause)}: ${firstLine(diagnostic)}`).join('\n')
  const go = yield* askAgreement({ text, shows: [{ type: 'text', text: shown }] }, agreement, turn)
  if (go) thinking.allowMoreCalls()
  return go
}

/** Fixes a confirmed cause, until a check passes that did not pass before. */
async function* fixCause(
  finding: Finding,
  findings: readonly Finding[],
  thinking: ThinkingTurn,
): AsyncGenerator<Event, Pursuit> {
  const check = yield* checkFor(finding, thinking)
  if (thinking.over) return { outcome: thinking.over, failed: [] }
  const how = [
    'The cause was looked for and confirmed. Fix it where it arises, not where it shows. What was found out:',
    ...findings.map(findingText),
  ].join('\n')
  const approach = { name: `the fix for “${firstLine(finding.hypothesis.cause)}”`, how }
  const then = 'so it was not the cause'
  return yield* pursue({ task: thinking.turn.prompt, check, approaches: [approach], then }, thinking)
}

/** A check that passes before the fix shows nothing: uses the first one that fails now, otherwise a judge. */
async function* checkFor(
  { hypothesis, observation, check }: Finding,
  thinking: ThinkingTurn,
): AsyncGenerator<Event, Check> {
  const { command, exit = 0 } = observation
  const diagnostic: Check = { kind: 'command', command }
  if (check?.kind === 'judge') return check
  if (check && checkName(check) !== checkName(diagnostic) && (yield* failsNow(check, thinking))) return check
  if (exit !== 0) return diagnostic
  const { checks } = await projectChecks(thinking.resources)
  const tests = checks.at(-1)
  if (tests && !thinking.over && (yield* failsNow(tests, thinking))) return tests
  return { kind: 'judge', question: `Is this cause gone, so that what the task is about works? ${hypothesis.cause}` }
}

async function* failsNow(check: Check, thinking: ThinkingTurn): AsyncGenerator<Event, boolean> {
  const { passed, undecided } = yield* runCheck(check, { task: thinking.turn.prompt, reply: '' }, thinking)
  return !passed && !undecided
}

/** A cause whose fix has no effect was not the cause. */
const disproved = (finding: Finding, evidence: string): Finding => ({
  ...finding,
  verdict: 'rejected',
  why: `it seemed confirmed, was fixed twice, and still ${evidence}`,
})

const toTriedWay = ({ hypothesis, verdict, why }: Finding): TriedWay => ({
  what: firstLine(hypothesis.cause),
  seen: `${verdict}, ${clipped(why, 600)}`,
})

const knownFact = ({ quote, where }: Finding) =>
  quote === undefined ? [] : [`${where}: ${clipped(quote.trim(), 300)}`]

/** Has the actor answer: the cause is known, and nothing needs to be fixed. */
async function* answer(findings: readonly Finding[], thinking: ThinkingTurn): AsyncGenerator<Event, Outcome> {
  const { turn, resources } = thinking
  yield thinking.phase('answering with what was found')
  return yield* thinking.act(
    [
      turn.prompt,
      resources.machine.description,
      'Other agents looked for the cause; this is what they found, each with what was seen:',
      ...findings.map(findingText),
      'Answer what was asked on that evidence, and name it. If the request only wants an answer, change nothing, and say how it could be fixed.',
    ].join('\n\n'),
  )
}

/** Has the actor continue without help, based on the findings so far. */
async function* actUnaided(
  found: readonly Finding[],
  left: readonly Hypothesis[],
  thinking: ThinkingTurn,
): AsyncGenerator<Event, Outcome> {
  yield note('the other causes are not tested; answering directly')
  const words = [...found.map(findingLine), ...left.map(({ cause }) => `not tested: ${firstLine(cause)}`)]
  return yield* thinking.act(unaidedPrompt(words.join('\n'), thinking))
}

function unaidedPrompt(words: string | undefined, { turn, resources }: ThinkingTurn): string {
  return [
    turn.prompt,
    resources.machine.description,
    ...(words === undefined
      ? []
      : ['Another agent thought about it first:', quoted('diagnosis', clipped(words, 8_000))]),
  ].join('\n\n')
}
