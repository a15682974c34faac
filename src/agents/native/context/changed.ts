import type { InstructionFile, Instructions } from './instructions.ts'
import { fileText } from './instructions.ts'

/** What the model was told of a file last, as it is kept with the session. */
export type Told = { path: string; hash: string }

export const toldOf = (files: readonly InstructionFile[]): Told[] => files.map(({ path, hash }) => ({ path, hash }))

/**
 * What is said after the messages when instruction files changed in the course of a session: the beginning of the
 * request stays as it was. Undefined when nothing did; `told` is what to compare with from then on.
 */
export function changedSince(told: readonly Told[], now: Instructions): { text: string; told: Told[] } | undefined {
  const before = new Map(told.map(({ path, hash }) => [path, hash]))
  const changed = now.files.filter(({ path, hash }) => before.get(path) !== hash)
  const paths = new Set(now.files.map(({ path }) => path))
  const gone = told.filter(({ path }) => !paths.has(path)).map(({ path }) => path)
  if (changed.length + gone.length === 0) return undefined
  const lines = [
    ...(changed.length > 0 ? ['Instructions changed; what follows replaces what you were given:'] : []),
    ...changed.map(fileText),
    ...(gone.length > 0 ? [`No longer in force: ${gone.join(', ')}`] : []),
  ]
  return { text: lines.join('\n'), told: toldOf(now.files) }
}
