import type { Event } from '../../../core/talk/entry.ts'
import type { Result } from '../../../core/work/tool.ts'
import type { Course } from '../course.ts'
import type { Script } from './code.ts'
import { isForbidden } from '../../../core/work/perform.ts'

/** What came of a script; one that was not allowed, or could not be run at all, says nothing about the next. */
export type Trial = { script: Script; printed: string; ended: 'well' | 'badly' | 'not allowed' | 'not run' }

/** Runs it where the session's other scripts ran, under the rules that hold every tool. */
export async function* tried(script: Script, { minds, turn }: Course): AsyncGenerator<Event, Trial> {
  const { language, code } = script
  const result = yield* minds.hands.use('repl', { language, code }, turn)
  const ended = isForbidden(result) ? 'not allowed' : !result.ok ? 'not run' : exitOf(result) === 0 ? 'well' : 'badly'
  return { script, printed: result.text, ended }
}

const exitOf = ({ data }: Result) => (data as { exit?: number | string } | undefined)?.exit

/** What went wrong, in a line: it stands last, above where it came from. */
export function faultIn({ printed }: Trial): string {
  const lines = printed.split('\n').filter((line) => line.trim() !== '')
  return (lines.findLast((line) => /^[^\s[}]/.test(line)) ?? lines.at(-1) ?? 'it printed nothing').slice(0, 200)
}
