import type { Ended } from '../../core/profile/profile.ts'
import type { Failure } from '../../core/talk/outcome.ts'
import type { Sight } from './screen-watcher.ts'
import type { ScreenSpec } from './screen-spec.ts'
import { bare } from '../../core/screen/fence.ts'
import { processFailure, closingLine } from '../process-failure.ts'
import { chrome } from './screen-answer.ts'

const lastRows = 12

/** The last rows of a screen, as the end of a log. */
function lastWords(rows: readonly string[]): string {
  return rows
    .filter((row) => !chrome.test(row))
    .map(bare)
    .slice(-lastRows)
    .join('\n')
}

/** How a program in a terminal exited; its last output is the text on its screen. */
export function endedOf({ screen, gone, now }: Sight): Ended {
  // tmux may have lost the exit code and the signal.
  const { code, signal = 'not known' } = gone ?? {}
  return {
    out: '',
    err: lastWords(screen.rows),
    code,
    signal: code === undefined && gone ? `a signal (${signal})` : undefined,
    now,
  }
}

/** The failure of a program that exited `before` an awaited event. */
export function exitFailure({ name, profile }: ScreenSpec, sight: Sight, before: string): Failure {
  const ended = endedOf(sight)
  const known = processFailure(name, ended, profile)
  if (known) return known
  const words = closingLine(ended.err)
  return { kind: 'crash', message: `${name} exited before ${before}${words ? ` (its last words: ${words})` : ''}` }
}

/** The failure of a program that exited because of the answer to its own question. */
export function declinedFailure({ name }: ScreenSpec, question: string): Failure {
  return { kind: 'denied', message: `${name} exited after its question was answered: ${question}` }
}

/** The failure of a program whose screen is unknown: nothing is typed into it. */
export function unknownScreenFailure({ name }: ScreenSpec, { screen }: Sight, attach: string | undefined): Failure {
  const words = closingLine(lastWords(screen.rows))
  const look = attach === undefined ? '' : `; look at it with: ${attach}`
  const message = `${name} shows a screen that termaite does not know, so nothing was typed into it${look} (last line: ${words})`
  return { kind: 'crash', message }
}

/** The failure behind a CLI's own error message. */
export function faultFailure({ name, profile }: ScreenSpec, words: string, now: number): Failure {
  return profile?.failure({ out: '', err: words, now }) ?? { kind: 'crash', message: `${name} failed: ${words}` }
}
