import type { Question } from './question.ts'

/** What a typed line picks: options by their numbers, words of one's own where they count, and nothing with an empty line. */
export function picksTyped({ options, multiple, free }: Question, line: string): string[] | undefined | 'unclear' {
  const typed = line.trim()
  if (typed === '') return undefined
  const picks = typed.split(/[\s,]+/).map((part) => options[Number(part) - 1]?.id)
  const known = picks.every((pick) => pick !== undefined) && (picks.length === 1 || multiple === true)
  if (known) return [...new Set(picks as string[])]
  return free ? [typed] : 'unclear'
}

export function unclearWords({ options, multiple }: Question): string {
  return `${multiple ? 'Numbers' : 'A number'} from 1 to ${options.length}, or Enter for none.`
}
