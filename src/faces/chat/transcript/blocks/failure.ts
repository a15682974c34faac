import type { Failure, FailureKind } from '../../../../core/talk/outcome.ts'
import type { Failed, Tried } from '../block.ts'
import type { Look } from '../look.ts'
import { moment } from '../../../../base/moment.ts'
import { duration } from '../../numbers.ts'
import { bounded, harmless, indented, listed, oneLine, wrapped } from '../text.ts'

/** What a person can do about it. */
const nextSteps: Record<FailureKind, string> = {
  quota: '/agents shows who is free and until when; /switch takes another one.',
  busy: 'Send it again in a moment, or take another agent with /switch.',
  auth: 'Log in with its own program, then send it again; `termaite doctor` says how.',
  missing: '`termaite doctor` says what is missing and how to get it.',
  timeout: 'Send it again, or take another agent with /switch.',
  overflow: '/compact sums up what was said and makes room.',
  crash: 'Send it again; `termaite doctor` looks at each agent.',
  denied: '/leash allows more.',
  budget: '/usage shows what was spent.',
  aborted: '',
  unmet: 'Say what to try next; /diff shows what was changed, /undo takes it back.',
}

/** A try that failed, quietly: the turn went on. */
export function attemptLines(tried: Tried, width: number, look: Look, open: boolean): string[] {
  const { theme } = look
  const who = tried.by ?? 'an agent'
  const on = tried.next === undefined ? '' : tried.next === tried.by ? ' → once more' : ` → ${oneLine(tried.next, 60)}`
  const why = `${oneLine(who, 60)}: ${tried.failure.kind}: ${told(oneLine(tried.failure.message, 1000), tried.failure)}`
  const lines = listed([why, `${duration(tried.ms)}${on}`], width - 2).map(theme.quiet)
  return [...indented(lines, '  ', `${theme.warn('↷')} `), ...(open ? saidLines(tried.said, width, look) : [])]
}

/** A turn without an answer, and what to do next. */
export function errorLines(failed: Failed, width: number, look: Look, open: boolean): string[] {
  const { theme } = look
  const { failure, said } = failed
  const cancelled = failure.kind === 'aborted'
  const mark = cancelled ? theme.quiet('■') : theme.bad('✗')
  const words = wrapped(told(harmless(failure.message).trim(), failure), width - 2)
  const step = nextSteps[failure.kind]
  return [
    // Whoever cancels has read so far, and wants to see what it was.
    ...(open || cancelled ? saidLines(said, width, look) : []),
    ...indented(words.map(cancelled ? theme.quiet : theme.bad), '  ', `${mark} `),
    ...(step === '' ? [] : indented(wrapped(step, width - 2).map(theme.quiet), '  ')),
  ]
}

function told(message: string, { retryAt }: Failure): string {
  return retryAt === undefined ? message : `${message.replace(/\.$/, '')}, until ${moment(retryAt)}`
}

function saidLines(said: string, width: number, look: Look): string[] {
  if (said === '') return []
  const { text, rest } = bounded(harmless(said).trim(), 0, 8000)
  const lines = wrapped(text, width - 2)
  return indented((rest ? [...lines, rest] : [...lines, '(cut off)']).map(look.theme.quiet), '  ')
}
