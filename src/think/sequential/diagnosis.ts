import type { Event } from '../../core/talk/entry.ts'
import type { Check } from '../goal-check.ts'
import type { RoleAssignment } from '../resources.ts'
import type { ThinkingTurn } from '../thinking-turn.ts'
import type { Hypothesis, TestedHypothesis } from './hypotheses.ts'
import { defined } from '../../base/defined.ts'
import { tighter } from '../../core/work/agent.ts'
import { list, oneOf, optional, string } from '../../core/data/shape.ts'
import { checkField, checkInstructions, containsQuote, parseCheck } from '../goal-check.ts'
import { answerShape } from '../../core/data/json-answer.ts'
import { clipped, firstLine, quoted } from '../prompt-text.ts'
import { diagnosticInstructions, hypothesisField, verdicts } from './hypotheses.ts'

/** The result of a diagnostic; without `output` it was not run, for the reason in `how`. */
type Observation = { command: string; how: string; exit?: number; output?: string }

/** The result of testing one hypothesis. `quote`: the text that shows it; `where`: its place. */
export type Finding = TestedHypothesis & {
  observation: Observation
  why: string
  quote?: string
  where?: string
  /** The check that would show that the cause is fixed. */
  check?: Check
}

const diagnosticSeconds = 120
const longestOutput = 16_000

/** Runs a diagnostic. It came from an agent that may only read, so it may change nothing without the person's permission. */
export async function* runDiagnostic(
  { diagnostic }: Hypothesis,
  thinking: ThinkingTurn,
): AsyncGenerator<Event, Observation> {
  const { turn, resources } = thinking
  const command = diagnostic.trim()
  yield thinking.phase(`looking: ${command}`)
  const leash = turn.leash === 'all' ? 'all' : tighter(turn.leash, 'ask')
  const input = { command, timeout_seconds: diagnosticSeconds }
  const { ok, text, data } = yield* resources.tools.use('bash', input, { ...turn, leash })
  if (!ok) return { command, how: `it was not run: ${text}` }
  const exit = (data as { exit?: number | string } | undefined)?.exit
  if (exit === undefined) return { command, how: 'it did not finish in time and was stopped', output: text }
  if (typeof exit === 'number') return { command, how: `it exited with ${exit}`, exit, output: text }
  return { command, how: `it was killed by ${exit}`, output: text }
}

const decisionShape = answerShape({
  verdict: oneOf(...verdicts),
  quote: optional(string()),
  file: optional(string()),
  why: string(),
  check: optional(checkField),
  more: optional(list(hypothesisField)),
})

/** Asks what an observation says about a hypothesis: a verdict whose quote is found nowhere decides nothing. */
export async function* askDecider(
  hypothesis: Hypothesis,
  observation: Observation,
  before: readonly Finding[],
  decider: RoleAssignment,
  thinking: ThinkingTurn,
): AsyncGenerator<Event, Finding> {
  yield thinking.phase(`deciding: ${hypothesis.cause}`)
  const prompt = deciderPrompt(hypothesis, observation, before, thinking)
  const answer = yield* thinking.askFor(decider, prompt, decisionShape)
  const unclear = { hypothesis, observation, verdict: 'unclear' as const, more: [] }
  if (!answer.ok) return { ...unclear, why: `no decision: ${answer.why}` }
  const { verdict, quote = '', file = '', why, check, more = [] } = answer.value
  if (verdict === 'unclear') return { ...unclear, why, more }
  const where = await placeOf(quote, file, observation, thinking)
  if (where === undefined) {
    const missed = `${answer.by} says ${verdict}, but its quote is not found in what was seen: ${quote || 'nothing'}`
    return { ...unclear, why: missed, more }
  }
  return defined({ hypothesis, observation, verdict, why, quote, where, check: parseCheck(check), more })
}

/** The place of the quoted text: in the output of the diagnostic, or in the named file. */
async function placeOf(
  quote: string,
  file: string,
  { command, output = '' }: Observation,
  { resources }: ThinkingTurn,
): Promise<string | undefined> {
  if (containsQuote(output, quote)) return `\`${command}\``
  const text = file === '' ? undefined : await resources.tools.read(file).catch(() => undefined)
  return containsQuote(text ?? '', quote) ? file : undefined
}

function deciderPrompt(
  { cause, why, expects }: Hypothesis,
  { command, how, output }: Observation,
  before: readonly Finding[],
  { turn, resources }: ThinkingTurn,
): string {
  const printed = output === undefined ? [] : [quoted('output', clipped(output, longestOutput))]
  return [
    'You decide what one observation says about one hypothesis. Read files where that helps; change nothing.',
    quoted('task', turn.prompt),
    resources.machine.description,
    ...(before.length > 0 ? ['Found out before:', ...before.map(findingText)] : []),
    quoted('hypothesis', `${cause}\nwhy: ${why}\nexpected: ${expects}`),
    [quoted('diagnostic', command), `${how}.`, ...printed].join('\n'),
    '"verdict": "confirmed" only when what was seen shows that this is the cause and would not look so otherwise; "rejected" when it shows that it is not; "unclear" when it shows neither. A diagnostic that was not run shows nothing.',
    '"quote": for "confirmed" and "rejected" the exact words that decide it, copied from the output, or from a file (then "file" is its path from the working folder). Words that are found nowhere count as "unclear".',
    `"check": for "confirmed", what shows that the cause is fixed. ${checkInstructions}`,
    `"more": causes that only this observation brings up, or another way to test this one, with the fields of a hypothesis: cause, why, diagnostic, expects. ${diagnosticInstructions}`,
  ].join('\n\n')
}

/** A finding on one line, for a note in the conversation. */
export function findingLine({ verdict, hypothesis, quote, where, why }: Finding): string {
  const shown = quote === undefined ? firstLine(why) : `${where}: ${firstLine(quote.trim())}`
  return `${verdict}: ${firstLine(hypothesis.cause)} (${shown})`
}

/** A finding for the prompt of the agent that decides or acts next. */
export function findingText({ verdict, hypothesis, why, quote, where }: Finding): string {
  const seen = quote === undefined ? '' : `\nseen in ${where}: ${clipped(quote.trim(), 1_000)}`
  return quoted('finding', `${verdict}: ${hypothesis.cause}${seen}\n${clipped(why, 1_000)}`)
}
