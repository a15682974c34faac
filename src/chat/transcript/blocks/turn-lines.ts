import type {
  QuestionBlock,
  ClosingBlock,
  PlanBlock,
  CommandBlock,
  WaitBlock,
  ErrorBlock,
  AttemptBlock,
} from '../block.ts'
import type { RenderContext } from '../markdown/render-context.ts'
import type { Theme } from '../../style/theme.ts'
import type { Failure, FailureKind } from '../../../core/talk/outcome.ts'
import { localTimeFrom } from '../../../base/time/local-time.ts'
import { isOwnQuestion, ourselves } from '../block.ts'
import { duration, lineCounts, thoughtWords, tokens } from '../../style/numbers.ts'
import { bounded, safeText, oneLine } from '../../style/safe-text.ts'
import { indented, listed, wrapped, wrappedByIndent } from '../../style/screen-text.ts'
import { failureSentence } from '../../../core/talk/outcome.ts'

/** A question and its answer. While the question is open, its card shows it. */
export function questionLines(asked: QuestionBlock, width: number, { theme }: RenderContext): string[] {
  if (asked.state === 'open') return []
  const labels = asked.picks.map((pick) => asked.question.options.find(({ id }) => id === pick)?.label ?? pick)
  const answer = { unanswered: ' → no answer', answered: ` → ${oneLine(labels.join(', '), 200)}` }[asked.state]
  const [first = ''] = asked.question.text.trimStart().split('\n', 1)
  // An agent is not named again below its own name, or if the question names it.
  const named = asked.by === undefined || asked.by === ourselves || isOwnQuestion(asked) || first.includes(asked.by)
  const from = [...asked.question.from, ...(named ? [] : [asked.by!])].map((name) => oneLine(name, 60))
  const words = `${from.length > 0 ? `${from.join(' · ')}: ` : ''}${oneLine(first)}${answer}`
  const margin = isOwnQuestion(asked) ? '  ' : ''
  return indented(
    wrapped(words, width - 2 - margin.length).map(theme.quiet),
    `${margin}  `,
    `${margin}${theme.warn('?')} `,
  )
}

/** A turn that waits for an agent and continues by itself. */
export function waitLines({ agent, until }: WaitBlock, width: number, { theme, now }: RenderContext): string[] {
  const when = until === undefined ? '' : ` until ${localTimeFrom(now(), until)}`
  const name = oneLine(agent, 60)
  const words = `waiting for ${name}${when}; the request is sent then`
  return indented(withNames(wrapped(words, width - 2), [name], theme), '  ', `${theme.warn('⏸')} `)
}

/** The closing line of a turn: the agent, why it was chosen, the duration, the changes and the usage. */
export function closingLines({ closing }: ClosingBlock, width: number, { theme }: RenderContext): string[] {
  const { by, why, ms, thought, changed } = closing
  // A turn that only failed already shows its failure above.
  if (by === undefined && changed === undefined && closing.tokens === undefined) return []
  const parts = [
    by === undefined ? '' : oneLine(by, 60),
    why === undefined ? '' : oneLine(why, 100),
    duration(ms),
    ...(thought ? thoughtWords(thought) : []),
    changed && changed.files > 0
      ? `${changed.files} ${changed.files === 1 ? 'file' : 'files'} ${lineCounts(changed)}`
      : '',
    closing.tokens === undefined ? '' : tokens(closing.tokens, closing.source ?? 'estimated'),
  ]
  return indented(withNames(listed(parts, width - 2), [parts[0]!], theme), '  ', `${theme.quiet('─')} `)
}

/** Quiet lines in which the first mention of each agent has the agent's own colour. */
function withNames(lines: readonly string[], names: readonly string[], { quiet, speaker }: Theme): string[] {
  const left = names.filter((name) => name !== '')
  return lines.map((line) => {
    let [painted, rest] = ['', line]
    for (let at; left.length > 0 && (at = rest.indexOf(left[0]!)) >= 0;) {
      const name = left.shift()!
      painted += (at > 0 ? quiet(rest.slice(0, at)) : '') + speaker(name)(name)
      rest = rest.slice(at + name.length)
    }
    return painted + (rest === '' ? '' : quiet(rest))
  })
}

const boxes = { pending: '☐', in_progress: '◐', completed: '☑' } as const

/** The plan of an agent. */
export function planLines({ items }: PlanBlock, width: number, { theme }: RenderContext): string[] {
  const done = items.filter(({ status }) => status === 'completed').length
  return [
    `  ${theme.strong('Plan')} ${theme.quiet(`${done}/${items.length}`)}`,
    ...items.flatMap(({ task, status }) => {
      const paint =
        status === 'completed' ? theme.quiet : status === 'in_progress' ? theme.strong : (text: string) => text
      return indented(wrapped(oneLine(task, 400), width - 4).map(paint), '    ', `  ${paint(boxes[status])} `)
    }),
  ]
}

/** The output of a command, with its own line breaks. */
export function commandLines({ text, how }: CommandBlock, width: number, { theme }: RenderContext): string[] {
  const { text: shown, rest } = bounded(safeText(text).replace(/\n+$/, ''))
  const paint = how === 'error' ? theme.bad : theme.quiet
  // Error messages are written to follow "termaite: "; here they begin a line.
  const words = how === 'error' ? shown.replace(sentenceStart, (letter) => letter.toUpperCase()) : shown
  const lines = [...wrappedByIndent(words, width - 2), ...(rest ? [rest] : [])].map(paint)
  return indented(lines, '  ', how === 'error' ? `${theme.bad('✗')} ` : '  ')
}

/** The first letter of a message that begins with an ordinary word; a name, a flag or a path stays as it is. */
const sentenceStart = /^(?=(?:an?|the|there|this|that|these|no|nothing|none|only|every|one) )./

/** The next step that each kind of failure leaves to the person. */
const nextSteps: Record<FailureKind, string> = {
  quota: '/agents shows which agents are free; /switch chooses another one.',
  busy: 'Send it again in a moment, or choose another agent with /switch.',
  auth: 'Log in with the agent’s own program, then send it again; `termaite doctor` says how.',
  missing: '`termaite doctor` says what is missing and how to get it.',
  timeout: 'Send it again, or choose another agent with /switch.',
  overflow: '/compact summarises the conversation and makes room.',
  crash: 'Send it again; `termaite doctor` checks each agent.',
  denied: '/leash lets agents do more.',
  aborted: '',
  unfinished: 'Nothing is lost: send “go on” to continue. /diff shows what changed, /usage what was used.',
  unmet: 'Say what to try next; /diff shows what changed, /undo takes it back.',
}

/** A failed attempt, in quiet colours, because the turn continued. */
export function attemptLines(tried: AttemptBlock, width: number, context: RenderContext, open: boolean): string[] {
  const { theme } = context
  const who = tried.by ?? 'an agent'
  const next = tried.next === undefined || tried.next === tried.by ? '' : oneLine(tried.next, 60)
  const on = tried.next === undefined ? '' : ` → ${next || 'once more'}`
  const failure = { ...tried.failure, message: oneLine(tried.failure.message, 1000) }
  const why = withRetryTime(failureSentence(oneLine(who, 60), failure), failure, context)
  const names = [tried.by === undefined ? '' : oneLine(who, 60), next]
  const lines = withNames(listed([why, `${duration(tried.ms)}${on}`], width - 2), names, theme)
  return [...indented(lines, '  ', `${theme.warn('↷')} `), ...(open ? saidLines(tried.said, width, context) : [])]
}

/** The failure of a turn, and what the person can do next. */
export function errorLines(failed: ErrorBlock, width: number, context: RenderContext, open: boolean): string[] {
  const { theme } = context
  const { failure, said } = failed
  const cancelled = failure.kind === 'aborted'
  const unfinished = failure.kind === 'unfinished'
  const paint = cancelled ? theme.quiet : unfinished ? theme.warn : theme.bad
  const message = withRetryTime(safeText(failure.message).trim(), failure, context)
  const words = wrapped(unfinished && !failed.inside ? `The turn was ${message}` : message, width - 2)
  // A failure kind that an older version kept may be missing here. The person cannot fix an agent inside a turn.
  const step = failed.inside ? '' : (nextSteps[failure.kind] ?? '')
  return [
    // A person who cancels has read that far, and wants to keep it visible.
    ...(open || cancelled ? saidLines(said, width, context) : []),
    ...indented(words.map(paint), '  ', `${paint(cancelled || unfinished ? '■' : '✗')} `),
    ...(step === '' ? [] : indented(wrapped(step, width - 2).map(theme.quiet), '  ')),
  ]
}

function withRetryTime(message: string, { retryAt }: Failure, { now }: RenderContext): string {
  return retryAt === undefined ? message : `${message.replace(/\.$/, '')}, until ${localTimeFrom(now(), retryAt)}`
}

function saidLines(said: string, width: number, context: RenderContext): string[] {
  if (said === '') return []
  const { text, rest } = bounded(safeText(said).trim(), 0, 8000)
  const lines = wrapped(text, width - 2)
  return indented((rest ? [...lines, rest] : [...lines, '(cut off)']).map(context.theme.quiet), '  ')
}
