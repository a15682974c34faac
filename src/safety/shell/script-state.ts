import type { VariableValue, Variables } from './shell-words.ts'
import type { Word } from './simple-command.ts'

/** The state of a script at one place: the folders that it may be in, and its variables. */
export type State = { cwds: readonly string[] | undefined; variables: Variables }

/** The state after a part of a script: if the part succeeded (`well`), and in any case (`any`). */
export type After = { well: State; any: State }

/** The value of a variable that takes one of these words. */
export function variableValue(words: readonly Word[]): VariableValue {
  if (words.length === 0 || words.some((word) => !word.values)) return 'unknown'
  const patterns = words.filter((word) => word.glob)
  if (patterns.length > 0 && words.length > 1) return 'unknown'
  const values = words.flatMap((word) => word.values!)
  if (values.length > 32) return 'unknown'
  return patterns.length > 0 ? { values, glob: true } : { values }
}

export function union(a: State, b: State): State {
  if (a === b) return a
  const cwds = a.cwds && b.cwds ? [...new Set([...a.cwds, ...b.cwds])] : undefined
  const variables = new Map<string, VariableValue>()
  for (const name of new Set([...a.variables.keys(), ...b.variables.keys()])) {
    const [one, two] = [a.variables.get(name), b.variables.get(name)]
    const plain = one && two && one !== 'unknown' && two !== 'unknown' && !one.glob && !two.glob
    variables.set(
      name,
      one === two && one ? one : plain ? { values: [...new Set([...one.values, ...two.values])] } : 'unknown',
    )
  }
  return { cwds, variables }
}

/** Whether two states are equal, for example before and after a loop that changes nothing. */
export function same(a: State, b: State): boolean {
  if (String(a.cwds) !== String(b.cwds) || a.variables.size !== b.variables.size) return false
  return [...a.variables].every(([name, held]) => b.variables.get(name) === held)
}
