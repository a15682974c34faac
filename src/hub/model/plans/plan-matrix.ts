/** One combination of a matrix: a value for each of its names. */
export type Combination = Record<string, string>

/** A matrix in the form that a plan has it. `include` and `exclude` list combinations, or parts of them. */
export type Matrix = { axes: Record<string, string[]>; include: Combination[]; exclude: Combination[] }

/** The most tasks that one matrix may expand to. */
export const mostCombinations = 256

/** How many combinations the axes have before any is excluded, computed without making them. */
export function combinationCount({ axes }: Pick<Matrix, 'axes'>): number {
  const lengths = Object.values(axes).map(({ length }) => length)
  return lengths.length === 0 ? 0 : lengths.reduce((product, length) => product * length, 1)
}

/**
 * The combinations of a matrix, in the order of its axes; the last axis changes fastest. An `exclude` removes every combination that has
 * all its values. An `include` adds its further values to each combination that matches it, and is a separate combination if none
 * matches.
 */
export function combinations({ axes, include, exclude }: Matrix): Combination[] {
  const names = Object.keys(axes)
  const all = names.reduce<Combination[]>(
    (made, name) => made.flatMap((one) => axes[name]!.map((value) => ({ ...one, [name]: value }))),
    names.length === 0 ? [] : [{}],
  )
  const has = (one: Combination, part: Combination, keys: readonly string[]) =>
    keys.every((key) => one[key] === part[key])
  const left = all.filter((one) => !exclude.some((part) => has(one, part, Object.keys(part))))
  const further: Combination[] = []
  for (const extra of include) {
    const shared = Object.keys(extra).filter((key) => names.includes(key))
    const agree = left.filter((one) => has(one, extra, shared))
    // An extra combination without a name of an axis matches all combinations, and is meant to be added to all of them.
    if (agree.length === 0) further.push(extra)
    else for (const one of agree) Object.assign(one, extra)
  }
  return [...left, ...further]
}

/** The name of a task for one combination: `test (linux, 24)`. */
export function combinationName(group: string, one: Combination): string {
  return `${group} (${Object.values(one).join(', ')})`
}
