import type { Event } from '../../core/talk/entry.ts'
import type { Outcome } from '../../core/talk/outcome.ts'
import type { FrameworkDefinition, TriedWay } from '../framework-agent.ts'
import type { Check, CheckResult } from '../goal-check.ts'
import type { ThinkingTurn } from '../thinking-turn.ts'
import type { Critique, Flaw, ReviewedWork } from './critique.ts'
import { defined } from '../../base/defined.ts'
import { SteppingBack } from '../consensus/council.ts'
import { frameworkAgent, giveUp } from '../framework-agent.ts'
import { askJudge, checkName, ranCommand, runCheck } from '../goal-check.ts'
import { projectChecks } from '../project-checks.ts'
import { clipped, firstLine, quoted } from '../prompt-text.ts'
import { offerRevert } from '../revert-offer.ts'
import { note } from '../thinking-turn.ts'
import { askCritic, criticSeat, flawText, refinePrompt } from './critique.ts'

/** Does the work, has another agent criticise it, refines it, and verifies it with the project's own tests. */
export const reflect: FrameworkDefinition = {
  // The actor is not known yet; the first healthy reader is the most likely one.
  asks: (resources) => [criticSeat(resources, resources.readers[0]!)],
  rounds: 1,
  agent: (resources) => frameworkAgent('reflect', resources, reflection),
  advice: { asks: (resources) => [criticSeat(resources, resources.readers[0]!)], advise: adviseCritique },
}

/** Has another agent criticise the work done in the turn so far, or the plan in the question. */
async function* adviseCritique(thinking: ThinkingTurn): AsyncGenerator<Event, Outcome> {
  const { turn, resources } = thinking
  const mark = await resources.turnBegan?.()
  const work = await workSince(turn.prompt, mark, thinking)
  const critique = yield* askCritic(work, thinking)
  if (thinking.over) return thinking.over
  const { by, flaws, words } = critique
  if (words !== undefined) return { ok: true, text: words }
  const text =
    flaws.length === 0 ? [`${by} found nothing that must be fixed.`] : [`${by} found:`, ...flaws.map(flawText)]
  return { ok: true, text: text.join('\n') }
}

async function* reflection(thinking: ThinkingTurn): AsyncGenerator<Event, Outcome> {
  const { turn, resources } = thinking
  const proof = new Proof(thinking)
  yield* proof.prepare()
  if (thinking.over) return thinking.over
  const mark = await resources.checkpoints?.mark()
  yield thinking.phase('doing the work')
  const made = yield* thinking.act([turn.prompt, resources.machine.description].join('\n\n'))
  if (!isDone(made)) return made
  const critique = yield* askCritic(await workSince(made.text, mark, thinking), thinking)
  if (thinking.over) return thinking.over
  if (critique.flaws.length === 0 && critique.words === undefined)
    return yield* verify(made, critique, mark, proof, thinking)
  yield thinking.phase('fixing what was found')
  const refined = yield* thinking.act(refinePrompt(critique))
  return isDone(refined) ? yield* verify(refined, critique, mark, proof, thinking) : refined
}

type DoneOutcome = Outcome & { ok: true }

/** If an agent could not act, or first asks a question, it has done nothing yet. */
const isDone = (outcome: Outcome): outcome is DoneOutcome => outcome.ok && outcome.asks === undefined

async function workSince(
  reply: string,
  mark: string | undefined,
  { turn, resources }: ThinkingTurn,
): Promise<ReviewedWork> {
  const changes = mark === undefined ? undefined : await resources.checkpoints?.since(mark).catch(() => undefined)
  return { task: turn.prompt, reply, ...changes }
}

/** How often in a row the check may fail. */
const mostFailures = 2

/** Checks the work until it passes; work that fails twice is reported as it is, and may be reverted. */
async function* verify(
  made: DoneOutcome,
  critique: Critique,
  mark: string | undefined,
  proof: Proof,
  thinking: ThinkingTurn,
): AsyncGenerator<Event, Outcome> {
  const { flaws } = critique
  const tried: TriedWay[] = []
  for (let outcome = made; ;) {
    const seen = yield* proof.check(await workSince(outcome.text, mark, thinking), flaws)
    if (thinking.over) return thinking.over
    thinking.passed = seen.undecided ? undefined : seen.passed
    if (seen.undecided) yield note(`the work could not be checked: ${firstLine(seen.evidence)}`)
    if (seen.passed || seen.undecided) return outcome
    const what = tried.length === 0 ? 'the work' : 'the work after another fix'
    tried.push({ what, seen: clipped(seen.evidence, 600) })
    if (tried.length === mostFailures) break
    yield note(`the check failed: ${firstLine(seen.evidence)}; fixing it once more`)
    yield thinking.phase('fixing what the check showed')
    const again = yield* thinking.act(fixPrompt(seen))
    if (!isDone(again)) return again
    outcome = again
  }
  return yield* stepBack({ tried, critique, mark }, proof, thinking)
}

/** The work failed its check twice: the council is asked for other approaches, and each is tried. */
async function* stepBack(
  { tried, critique, mark }: { tried: TriedWay[]; critique: Critique; mark: string | undefined },
  proof: Proof,
  thinking: ThinkingTurn,
): AsyncGenerator<Event, Outcome> {
  const back = new SteppingBack(thinking)
  const failures = [{ approach: { name: 'the work as it was done first', how: '' }, evidence: tried.at(-1)!.seen }]
  const first = yield* back.next(failures)
  if (thinking.over) return thinking.over
  yield note(
    `the check failed ${mostFailures} times; ${first ? `stepping back to ${first.name}` : 'nothing is left to try'}`,
  )
  if (mark !== undefined) yield* offerRevert('the work', mark, thinking)
  if (thinking.over) return thinking.over
  if (first) {
    // The project's own tests decide, not the council's checks.
    const pursuit = yield* back.pursue(first, failures, { check: proof.goal(critique.flaws), decides: true })
    if ('outcome' in pursuit) return pursuit.outcome
    tried.push(...pursuit.tried)
  }
  thinking.passed = false
  const known = critique.flaws.map(({ where, what }) => `${critique.by} found in ${where}: ${clipped(what, 300)}`)
  return yield* giveUp(clipped(thinking.turn.prompt, 300), tried, known)
}

function fixPrompt({ evidence }: CheckResult): string {
  return [
    'Your work was checked, and the check failed:',
    quoted('check', evidence),
    'Find out why, and fix the cause; change a test only if it contradicts the request. Then answer the person so that it can be read without what was said before.',
  ].join('\n\n')
}

/**
 * Checks work with the project's own build and tests; only failures that the work added count against it. A judge decides if the project
 * has no checks, if they are not allowed to run, or if they fail as they did before.
 */
class Proof {
  #thinking: ThinkingTurn
  #checks: Check[] = []
  #refused = false

  constructor(thinking: ThinkingTurn) {
    this.#thinking = thinking
  }

  /** Runs the project's checks before the work begins. */
  async *prepare(): AsyncGenerator<Event, void> {
    const { checks, missing } = await projectChecks(this.#thinking.resources)
    if (missing.length > 0) yield note(`the work cannot be checked with ${missing.join(', ')}: not installed`)
    for (const check of checks) yield* this.#begin(check)
  }

  /** Records the result of a check before the work. If it is not allowed to run, it is not tried again. */
  async *#begin(check: Check & { kind: 'command' }): AsyncGenerator<Event, void> {
    const thinking = this.#thinking
    if (thinking.over) return
    yield thinking.phase(`checking before the work: ${checkName(check)}`)
    const { exit, text, why, forbidden } = yield* ranCommand(check.command, thinking.resources, thinking.turn)
    if (thinking.over) return
    const ran = `\`${firstLine(check.command)}\``
    if (forbidden) {
      this.#refused = true
      return yield note(`this check was not run: ${ran} was not allowed: ${firstLine(text)}`)
    }
    this.#checks.push(exit === 0 ? check : { ...check, before: defined({ exit, text }) })
    if (exit !== 0) yield note(`${ran} fails before the work (${why ?? `exit ${exit}`}): only what gets worse counts`)
  }

  async *check(work: ReviewedWork, flaws: readonly Flaw[]): AsyncGenerator<Event, CheckResult> {
    const passed: string[] = []
    const failedBefore: string[] = []
    // If no file changed, the project's checks say nothing about the work.
    for (const check of work.files?.length === 0 ? [] : this.#checks) {
      const seen = yield* runCheck(check, work, this.#thinking)
      if (this.#thinking.over || (!seen.passed && !seen.undecided)) return seen
      if (seen.passed) passed.push(firstLine(seen.evidence))
      else if (seen.undecided === 'failed before') failedBefore.push(seen.evidence)
      else this.#refused = true
    }
    if (passed.length > 0 && failedBefore.length === 0 && !this.#refused)
      return { passed: true, evidence: passed.join('\n') }
    yield this.#thinking.phase('judging the work')
    return yield* askJudge(workQuestion(flaws, failedBefore), work, this.#thinking)
  }

  /** One check for approaches of the council: the project's last check, which is its tests, otherwise a judge. */
  goal(flaws: readonly Flaw[]): Check {
    return this.#checks.at(-1) ?? { kind: 'judge', question: workQuestion(flaws) }
  }
}

function workQuestion(flaws: readonly Flaw[], failedBefore: readonly string[] = []): string {
  const left = ['Is none of these findings left in it, unless a finding is shown to be wrong?', ...flaws.map(flawText)]
  const red = [
    'These checks failed before the work as well. They count against it only if the task asks for them to pass:',
    ...failedBefore.map((evidence) => quoted('check', clipped(evidence, 2_000))),
  ]
  return [
    'Does it do all that the task asks?',
    ...(flaws.length > 0 ? left : []),
    ...(failedBefore.length > 0 ? red : []),
  ].join('\n')
}
