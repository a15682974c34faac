import type { Event } from '../../core/talk/entry.ts'
import type { Outcome } from '../../core/talk/outcome.ts'
import { failed } from '../../core/talk/outcome.ts'
import { count } from './words.ts'

/** One thing that was tried, and what was seen. */
export type Tried = { what: string; seen: string }

/** An honest end: what was tried and what is known is the turn's reply, and nobody takes it for a success. */
export async function* unmet(
  wanted: string,
  tried: readonly Tried[],
  known: readonly string[] = [],
): AsyncGenerator<Event, Outcome> {
  const text = [
    `This was not reached: ${wanted}`,
    '',
    'What was tried:',
    ...tried.map(({ what, seen }) => `- ${what}: ${seen.replaceAll('\n', '\n  ')}`),
    ...(known.length > 0 ? ['', 'What is known:', ...known.map((fact) => `- ${fact}`)] : []),
  ].join('\n')
  yield { type: 'reply', text, by: 'termaite' }
  return failed('unmet', `not reached after ${count(tried.length, 'way')} of trying; what was tried is said above`)
}
