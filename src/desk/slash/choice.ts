import type { CommandWorld } from '../../core/talk/command.ts'
import type { Shown } from '../../core/talk/question.ts'
import { nearest } from '../../base/nearest.ts'
import { UsageError } from '../../core/io.ts'

export type Choice<T extends string> = { id: T; label: string }

/** What the person picks from a card; undefined when they leave it. */
export async function choose<T extends string>(
  { ask, signal }: CommandWorld,
  text: string,
  options: Choice<T>[],
  shows: Shown[] = [],
): Promise<T | undefined> {
  const card = { about: 'choice' as const, text, from: [], options, ...(shows.length > 0 ? { shows } : {}) }
  const picks = await ask(card, signal)
  return options.find(({ id }) => picks?.includes(id))?.id
}

/** The known word that was typed; another one is told with what was probably meant. */
export function knownWord<T extends string>(what: string, typed: string, known: readonly T[]): T {
  const found = known.find((word) => word === typed)
  if (found !== undefined) return found
  const near = nearest(typed, known)
  throw new UsageError(
    `there is no ${what} "${typed}"; ${near === undefined ? `there ${known.length === 1 ? 'is' : 'are'} ${known.join(', ')}.` : `did you mean "${near}"?`}`,
  )
}

/** Those of the known words that go on from what was typed. */
export function goingOn(typed: string, known: readonly string[]): string[] {
  return known.filter((word) => word.toLowerCase().startsWith(typed.trim().toLowerCase()))
}
