import type { Ended } from '../../core/work/profile.ts'
import type { Failure } from '../../core/talk/outcome.ts'
import type { Sight } from './screen-watcher.ts'
import type { ScreenSpec } from './screen-spec.ts'
import { bare } from '../../core/screen/fence.ts'
import { processFailure, lastLine } from '../process-failure.ts'
import { chrome } from './screen-answer.ts'

const lastRows = 12

/** What stands at the end of a screen, as a log would say it. */
export function lastWords(rows: readonly string[]): string {
  return rows
    .filter((row) => !chrome.test(row))
    .map(bare)
    .slice(-lastRows)
    .join('\n')
}

/** How a program in a terminal ended: all that it said stands on its screen. */
export function endedOf({ screen, gone, at }: Sight): Ended {
  // tmux may have lost how it ended.
  const { code, signal = 'not known' } = gone ?? {}
  return {
    out: '',
    err: lastWords(screen.rows),
    ...(code === undefined ? {} : { code }),
    ...(code === undefined && gone ? { signal: `a signal (${signal})` } : {}),
    now: at,
  }
}

/** Why a program that is gone did not do what was waited for. */
export function exitFailure({ name, profile }: ScreenSpec, sight: Sight, before: string): Failure {
  const ended = endedOf(sight)
  const known = processFailure(name, ended, profile)
  if (known) return known
  const words = lastLine(ended.err)
  return { kind: 'crash', message: `${name} left before ${before}${words ? ` (its last words: ${words})` : ''}` }
}

/** Why a program left that had asked something first. */
export function declinedFailure({ name }: ScreenSpec, question: string): Failure {
  return { kind: 'denied', message: `${name} left when it was answered: ${question}` }
}

/** Why nothing is typed into a screen. */
export function unknownScreenFailure({ name }: ScreenSpec, { screen }: Sight, attach: string | undefined): Failure {
  const words = lastLine(lastWords(screen.rows))
  const look = attach === undefined ? '' : `; look at it with: ${attach}`
  const message = `${name} shows a screen that is not known, and nothing is typed into such a one${look} (its last line: ${words})`
  return { kind: 'crash', message }
}

/** What a CLI says went wrong, read from one of its own sentences. */
export function faultFailure({ name, profile }: ScreenSpec, words: string, now: number): Failure {
  return profile?.failure({ out: '', err: words, now }) ?? { kind: 'crash', message: `${name} failed: ${words}` }
}
