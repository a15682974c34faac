import type { Event } from '../../../core/talk/entry.ts'
import type { Course } from '../course.ts'
import type { Asked, Minds } from '../minds.ts'
import type { Critique, Flaw } from './flaw.ts'
import type { Work } from './work.ts'
import { note } from '../course.ts'
import { count, firstLine } from '../words.ts'
import { flawLine, isGrave, review } from './flaw.ts'
import { criticWords } from './prompts.ts'

/** Nobody sees the faults of their own work as another does. */
export function criticOf({ readers, assigned }: Pick<Minds, 'readers' | 'assigned'>, actor: string): Asked {
  return { role: 'critic', agent: assigned['critic'] ?? readers.find((name) => name !== actor) ?? readers[0]! }
}

export async function* criticised(work: Work, course: Course): AsyncGenerator<Event, Critique> {
  yield course.phase('looking for bugs, edge cases and security')
  const actor = course.actor ?? ''
  const told = yield* course.askFor(criticOf(course.minds, actor), criticWords(work, course), review)
  const who = told.by === actor ? `${told.by} itself (nobody else is there)` : told.by
  if (course.over) return { by: told.by, flaws: [] }
  if (told.ok) {
    const flaws = told.value.findings
    yield note(`${who} looked for bugs, edge cases and security: ${flawsLine(flaws)}`)
    return { by: told.by, flaws: flaws.filter(isGrave) }
  }
  if (told.words === undefined) yield note(`nobody could review it: ${firstLine(told.why)}`)
  else yield note(`${who} reviewed it in words of its own; they are handed on`)
  return { by: told.by, flaws: [], ...(told.words === undefined ? {} : { words: told.words }) }
}

const mostNamed = 4

function flawsLine(flaws: readonly Flaw[]): string {
  if (flaws.length === 0) return 'nothing found'
  const more = flaws.length > mostNamed ? [`and ${flaws.length - mostNamed} more`] : []
  return `${count(flaws.length, 'finding')}: ${[...flaws.slice(0, mostNamed).map(flawLine), ...more].join('; ')}`
}
