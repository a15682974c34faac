import type { CommandWorld } from '../../../core/talk/command.ts'
import type { Option, Question, Shown } from '../../../core/talk/question.ts'
import { nearest } from '../../../base/text/nearest.ts'
import { UsageError } from '../../../core/io.ts'
import { defined } from '../../../base/defined.ts'

type Choice<T extends string> = Option & { id: T }

/** Asks with a card; undefined if the user leaves it. `unanswered` is the label of Esc on a card without a "no". */
export async function choose<T extends string>(
  { ask, signal }: CommandWorld,
  text: string,
  options: Choice<T>[],
  shows: Shown[] = [],
  unanswered = options.some(({ means }) => means === 'no') ? undefined : 'change nothing',
): Promise<T | undefined> {
  const card: Question = defined({
    about: 'choice',
    text,
    from: [],
    options,
    shows: shows.length > 0 ? shows : undefined,
    unanswered,
  })
  const picks = await ask(card, signal)
  return options.find(({ id }) => picks?.includes(id))?.id
}

/** Checks a typed word; an unknown one is an error with a suggestion. */
export function knownWord<T extends string>(what: string, typed: string, known: readonly T[]): T {
  const found = known.find((word) => word === typed)
  if (found !== undefined) return found
  const near = nearest(typed, known)
  throw new UsageError(
    `there is no ${what} "${typed}"; ${near === undefined ? `there ${known.length === 1 ? 'is' : 'are'} ${known.join(', ')}.` : `did you mean "${near}"?`}`,
  )
}

/** The known words that begin with the typed text. */
export function goingOn(typed: string, known: readonly string[]): string[] {
  return known.filter((word) => word.toLowerCase().startsWith(typed.trim().toLowerCase()))
}
