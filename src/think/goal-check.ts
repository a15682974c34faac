import type { Event } from '../core/talk/entry.ts'
import type { TypeOf } from '../core/data/shape.ts'
import type { Turn } from '../core/work/agent.ts'
import type { FailedBefore } from './known-failures.ts'
import type { Resources } from './resources.ts'
import type { ThinkingTurn } from './thinking-turn.ts'
import { defined } from '../base/defined.ts'
import { isForbidden } from '../core/work/perform.ts'
import { exitOf } from '../core/work/test-run.ts'
import { boolean, oneOf, optional, string } from '../core/data/shape.ts'
import { answerShape, part } from '../core/data/json-answer.ts'
import { isWorse } from './known-failures.ts'
import { clipped, firstLine, quoted } from './prompt-text.ts'

/**
 * Evidence that a goal was reached: a command's exit code, a file's content, or a judge that quotes the evidence. `before`: how the
 * command failed before the work began.
 */
export type Check =
  | { kind: 'command'; command: string; prints?: string; before?: FailedBefore }
  | { kind: 'file'; path: string; holds?: string }
  | { kind: 'judge'; question: string }

/** For a goal without its own check, a judge looks at the result. */
export const resultCheck: Check = {
  kind: 'judge',
  question: 'Does the reply, or what was changed, give what the task asks for, wholly and working?',
}

/** The work to judge. */
export type WorkDone = { task: string; reply: string; patch?: string }

/** Why a check is undecided: it was not allowed to run, no judge gave an answer, or it fails only as it did before the work. */
type Undecided = 'refused' | 'unanswered' | 'failed before'

/** `evidence`: the observation, as text. An error counts as a failure. */
export type CheckResult = { passed: boolean; evidence: string; undecided?: Undecided }

/** A check in the form in which an agent proposes it. */
export const checkField = part({
  kind: oneOf('command', 'file', 'judge'),
  command: optional(string()),
  path: optional(string()),
  holds: optional(string()),
  question: optional(string()),
})

/** The instruction to propose a check. */
export const checkInstructions =
  'A check is evidence that cannot lie: {"kind":"command","command":"…"} passes when it exits with 0 (with "holds": and prints that text), {"kind":"file","path":"…","holds":"…"} passes when the file has that text, {"kind":"judge","question":"…"} puts a question to another agent, only if no command or file can show it. A check must fail as long as the work is not done, run without a person, and end by itself.'

/** Parses a proposed check; undefined if it lacks the field that its kind needs. */
export function parseCheck(proposed: TypeOf<typeof checkField> | undefined): Check | undefined {
  const { kind, command, path, holds, question } = proposed ?? {}
  if (kind === 'command' && command?.trim())
    return defined({ kind, command: command.trim(), prints: holds || undefined })
  if (kind === 'file' && path?.trim()) return defined({ kind, path: path.trim(), holds: holds || undefined })
  if (kind === 'judge' && question?.trim()) return { kind, question: question.trim() }
  return undefined
}

export function checkName(check: Check): string {
  if (check.kind === 'command') return check.command
  if (check.kind === 'file')
    return check.holds === undefined ? check.path : `${check.path} holds ${JSON.stringify(check.holds)}`
  return check.question
}

/** Checks whether a goal was reached. */
export async function* runCheck(
  check: Check,
  done: WorkDone,
  thinking: ThinkingTurn,
): AsyncGenerator<Event, CheckResult> {
  yield thinking.phase(`checking: ${checkName(check)}`)
  if (check.kind === 'judge') return yield* askJudge(check.question, done, thinking)
  return check.kind === 'file'
    ? checkFile(check, thinking)
    : yield* checkCommand(check, thinking.resources, thinking.turn)
}

const longestOutput = 4_000

/** How a command ended: `exit` is missing if the command did not exit by itself, and `why` then gives the reason. */
type RanCommand = { exit?: number; signal?: string; why?: string; text: string; forbidden?: true }

/** Runs a command under the rules of the turn. */
export async function* ranCommand(
  command: string,
  { tools }: Pick<Resources, 'tools'>,
  turn: Turn,
): AsyncGenerator<Event, RanCommand> {
  const result = yield* tools.use('bash', { command, timeout_seconds: 600 }, turn)
  const { ok, text, data } = result
  if (isForbidden(result)) return { why: 'it was not allowed to run', text, forbidden: true }
  const exit = ok ? exitOf(data) : undefined
  const { exit: signal } = (data ?? {}) as { exit?: unknown }
  if (ok && typeof signal === 'string') return { signal, why: `it was killed by ${signal}`, text }
  return exit === undefined ? { why: 'it could not be run to its end', text } : { exit, text }
}

/** Runs a command as a check. */
export async function* checkCommand(
  { command, prints, before }: Omit<Check & { kind: 'command' }, 'kind'>,
  { tools }: Pick<Resources, 'tools'>,
  turn: Turn,
): AsyncGenerator<Event, CheckResult> {
  const { exit: code, signal, text, forbidden } = yield* ranCommand(command, { tools }, turn)
  const output = clipped(text, longestOutput)
  // The first line is enough, because the whole command is stored with its call.
  const ran = `\`${firstLine(command)}\``
  if (forbidden) return { passed: false, evidence: `${ran} was not allowed: ${output}`, undecided: 'refused' }
  const exit = code ?? signal
  const printed = prints === undefined || text.includes(prints)
  const missed = printed ? '' : ` and did not print ${JSON.stringify(prints)}`
  const how = exit === undefined ? 'could not be run to its end' : `exited with ${exit}${missed}`
  const passed = exit === 0 && printed
  if (!passed && before && !isWorse(before, { exit: code, text })) {
    const evidence = `${ran} ${how}, as it did before the work, and nothing more fails now:\n${output}`
    return { passed, evidence, undecided: 'failed before' }
  }
  return { passed, evidence: `${ran} ${how}:\n${output}` }
}

async function checkFile({ path, holds }: Check & { kind: 'file' }, { resources }: ThinkingTurn): Promise<CheckResult> {
  const text = await resources.tools.read(path).catch(() => undefined)
  if (text === undefined) return { passed: false, evidence: `${path} does not exist or cannot be read` }
  if (holds === undefined) return { passed: true, evidence: `${path} is there` }
  if (text.includes(holds)) return { passed: true, evidence: `${path} is there and holds ${JSON.stringify(holds)}` }
  const evidence = `${path} does not hold ${JSON.stringify(holds)}:\n${clipped(text, longestOutput)}`
  return { passed: false, evidence }
}

const judgement = answerShape({
  passed: boolean(),
  quote: optional(string()),
  file: optional(string()),
  why: optional(string()),
})

const longestEvidence = 24_000

/** How many characters of a judgement are passed on to the agent that fixes the work. */
const longestJudgement = 2_000

/** Has another agent judge the work. It must quote its evidence: a quote that is found nowhere counts as a failure. */
export async function* askJudge(
  question: string,
  done: WorkDone,
  thinking: ThinkingTurn,
): AsyncGenerator<Event, CheckResult> {
  const { resources, actor } = thinking
  const agent = resources.assigned['judge'] ?? resources.readers.find((name) => name !== actor) ?? resources.readers[0]!
  const evidence = [
    // Termaite's own text is outside of the quoted reply, so that a judge cannot quote it as evidence.
    done.reply === ''
      ? 'There is no reply about what was done: look at the files themselves.'
      : quoted('reply', clipped(done.reply, longestEvidence), actor),
    ...(done.patch ? [quoted('changes', clipped(done.patch, longestEvidence))] : []),
  ]
  const asked = [
    'You judge whether a piece of work was done. Look at the evidence, and at the files if that is not enough; change nothing. What the reply claims proves nothing by itself.',
    quoted('task', done.task),
    resources.machine.description,
    ...evidence,
    quoted('question', question),
    'Give "quote": the exact words, copied from the evidence or from a file (then "file" is its path from the working folder), that show it. Without such words it has not passed.',
  ].join('\n\n')
  const answer = yield* thinking.askFor({ role: 'judge', agent }, asked, judgement)
  if (!answer.ok) return { passed: false, evidence: `no judge gave an answer: ${answer.why}`, undecided: 'unanswered' }
  const { by } = answer
  const { passed, quote = '', file = '', why = 'it did not say why' } = answer.value
  const words = clipped(quote, longestJudgement)
  if (!passed) return { passed, evidence: `${by} judged that it is not done: ${clipped(why, longestJudgement)}` }
  if (!hasLetters(quote)) return { passed: false, evidence: `${by} judged that it is done, but quoted nothing` }
  if (containsQuote(done.reply, quote) || containsQuote(done.patch ?? '', quote))
    return { passed, evidence: `${by} saw it: ${words}` }
  const body = file === '' ? undefined : await resources.tools.read(file).catch(() => undefined)
  if (containsQuote(body ?? '', quote)) return { passed, evidence: `${by} saw it in ${file}: ${words}` }
  const where = file === '' ? 'what was done' : firstLine(file)
  return { passed: false, evidence: `${by} judged that it is done, but its quote is not found in ${where}: ${words}` }
}

/** A dot or a bracket occurs in every text, and shows nothing. */
const hasLetters = (quote: string) => /[\p{L}\p{N}]/u.test(quote)

/** A shorter quote also occurs in every text, unless it is a whole line. */
const shortestQuote = 3

/** Whether a text contains a quote; white space and the marks of a patch may differ, the words may not. */
export function containsQuote(text: string, quote: string): boolean {
  const words = plain(quote)
  if (!hasLetters(words)) return false
  if (words.replaceAll(' ', '').length >= shortestQuote) return plain(text).includes(words)
  return text.split('\n').some((line) => plain(line) === words)
}

const plain = (words: string) => words.replaceAll(/^[+-]/gm, ' ').replaceAll(/\s+/g, ' ').trim()
