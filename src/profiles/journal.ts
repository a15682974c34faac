import type { Loose } from './jsonl.ts'
import { loose } from './jsonl.ts'

/** A line of a journal; one that is still being written is nothing yet. */
export function lineOf(line: string): Loose {
  try {
    return loose(JSON.parse(line))
  } catch {
    return {}
  }
}

/** The last line that is a prompt with this mark, and all that came after it; the lines are long, so few are read. */
export function sincePrompt(
  lines: readonly string[],
  mark: string,
  isPrompt: (line: Loose) => boolean,
): Loose[] | undefined {
  const at = lines.findLastIndex((line) => line.includes(mark) && isPrompt(lineOf(line)))
  return at < 0 ? undefined : lines.slice(at).map(lineOf)
}

type Used = { input: number; output: number; cached: number; cost?: number }

/** What several requests used together; undefined when none is known. */
export function sumOf(all: readonly Used[]): Used | undefined {
  if (all.length === 0) return undefined
  return all.reduce((sum, one) => ({
    input: sum.input + one.input,
    output: sum.output + one.output,
    cached: sum.cached + one.cached,
    ...(sum.cost === undefined && one.cost === undefined ? {} : { cost: (sum.cost ?? 0) + (one.cost ?? 0) }),
  }))
}
