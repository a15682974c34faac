import type { LocatedValue } from '../../../base/text/yaml-parser.ts'
import type { Path } from '../../../core/data/shape.ts'
import { nearest } from '../../../base/text/nearest.ts'
import { pathText } from '../../../core/data/shape.ts'

/** A mistake in a plan: its place, and a message that says what is wrong and how to correct it. */
export type PlanProblem = { line: number; column: number; at: string; words: string }

/** The problems of a plan, one per line, in the format of compilers. */
export function problemLines(file: string, problems: readonly PlanProblem[]): string[] {
  return problems.map(
    ({ line, column, at, words }) => `${file}:${line}:${column}: ${at === '' ? '' : `${at}: `}${words}`,
  )
}

/** The most problems of one plan that are shown: nobody reads more of them before fixing these. */
const mostProblems = 100

/** Collects the problems of one plan, so that a person sees all of them at once. */
export class PlanProblems {
  #source: Pick<LocatedValue, 'placeOf'>
  #all: PlanProblem[] = []
  #seen = new Set<string>()

  constructor(source: Pick<LocatedValue, 'placeOf'>) {
    this.#source = source
  }

  /** All problems, in the order of the file. */
  get all(): PlanProblem[] {
    const told = this.#all.toSorted((a, b) => a.line - b.line || a.column - b.column)
    const left = this.#seen.size - told.length
    const words = `the plan has ${left} more problems, which are listed once these are fixed.`
    return left > 0 ? [...told, { line: told.at(-1)!.line, column: 1, at: '', words }] : told
  }

  /** Notes a problem at a path, or at the text `within` at that path. A problem that several combinations share is noted once. */
  add(path: Path, words: string, within?: string): void {
    const at = pathText(path)
    const isNew = this.#seen.size < this.#seen.add(`${at}\n${words}`).size
    if (!isNew || this.#all.length >= mostProblems) return
    this.#all.push({ ...(this.#source.placeOf(path, within) ?? { line: 1, column: 1 }), at, words })
  }
}

/** Ends a sentence about an unknown word with the word that was probably meant, or with all known words. */
export function meantWords(word: string, known: readonly string[]): string {
  const near = nearest(word, known)
  if (near !== undefined) return `; did you mean "${near}"?`
  return known.length === 0 ? '.' : `; allowed: ${known.slice(0, 20).join(', ')}.`
}
