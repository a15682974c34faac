import type { Event } from '../../../core/talk/entry.ts'
import type { Course } from '../course.ts'
import type { Hypothesis } from './hypothesis.ts'
import { tighter } from '../../../core/work/agent.ts'
import { clipped, quoted } from '../words.ts'

/** What a diagnostic showed; without `output` it was not run, for the reason that `how` says. */
export type Observation = { command: string; how: string; exit?: number; output?: string }

const seconds = 120
const longestOutput = 16_000

/** Runs a diagnostic: it came from somebody who may only look, so that it changes nothing that nobody said yes to. */
export async function* observed({ diagnostic }: Hypothesis, course: Course): AsyncGenerator<Event, Observation> {
  const { turn, minds } = course
  const command = diagnostic.trim()
  yield course.phase(`looking: ${command}`)
  const leash = turn.leash === 'all' ? 'all' : tighter(turn.leash, 'ask')
  const { ok, text, data } = yield* minds.hands.use('bash', { command, timeout_seconds: seconds }, { ...turn, leash })
  if (!ok) return { command, how: `it was not run: ${text}` }
  const exit = (data as { exit?: number | string } | undefined)?.exit
  if (exit === undefined) return { command, how: 'it did not come to its end and was ended', output: text }
  return {
    command,
    how: typeof exit === 'number' ? `it exited with ${exit}` : `it was ended by ${exit}`,
    ...(typeof exit === 'number' ? { exit } : {}),
    output: text,
  }
}

export function observationWords({ command, how, output }: Observation): string {
  const printed = output === undefined ? [] : [quoted('output', clipped(output, longestOutput))]
  return [quoted('diagnostic', command), `${how}.`, ...printed].join('\n')
}
