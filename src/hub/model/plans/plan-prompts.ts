import type { Combination } from './plan-matrix.ts'
import type { PlanProblems } from './plan-problems.ts'
import type { PromptPart, TemplatePiece } from '../../../core/data/prompt-template.ts'
import type { Path } from '../../../core/data/shape.ts'
import { nearest } from '../../../base/text/nearest.ts'
import { meantWords } from './plan-problems.ts'
import { handedFields, templatePieces } from '../../../core/data/prompt-template.ts'

/** A need as a task writes it, and the names of the tasks that it refers to: several if the need has a matrix. */
export type NamedNeed = { group: string; names: string[] }

/** The templates of one task, for one combination of its matrix. */
export class PlanTemplates {
  #task: string
  #needs: readonly NamedNeed[]
  #combination: Combination | undefined
  #problems: PlanProblems

  constructor(
    { task, needs, combination }: { task: string; needs: readonly NamedNeed[]; combination: Combination | undefined },
    problems: PlanProblems,
  ) {
    this.#task = task
    this.#needs = needs
    this.#combination = combination
    this.#problems = problems
  }

  /** Parses a prompt. Values of the matrix are replaced by text, and results by references. */
  prompt(text: string, path: Path): PromptPart<string>[] {
    const parts = this.#pieces(text, path).map((piece) =>
      typeof piece === 'string' ? piece : this.#reference(piece.reference, path),
    )
    return joinTexts(parts)
  }

  /** Parses a text that is not a prompt, and so can only contain values of the matrix. */
  text(text: string, path: Path): string {
    return this.#pieces(text, path)
      .map((piece) => {
        if (typeof piece === 'string') return piece
        const { reference } = piece
        const [, name] = /^matrix\.([\w-]+)$/.exec(reference) ?? []
        if (name !== undefined) return this.#matrixValue(name, path, reference)
        const words = `{{${reference}}}: only {{matrix.<name>}} can be used here; results can only be used in prompts.`
        this.#problems.add(path, words, reference)
        return ''
      })
      .join('')
  }

  #reference(reference: string, path: Path): PromptPart<string> {
    const [, of, field] = /^([\w-]+)\.([\w-]+)$/.exec(reference) ?? []
    const say = (words: string) => {
      this.#problems.add(path, `{{${reference}}}: ${words}`, reference)
      return ''
    }
    if (of === undefined || field === undefined)
      return say(
        'a template is {{<need>.result}}, .diff, .branch or .agent, or {{matrix.<name>}}. Two braces that do not begin a template are written \\{{.',
      )
    if (of === 'matrix') return this.#matrixValue(field, path, reference)
    const names = this.#needs.filter(({ group }) => group === of).flatMap((need) => need.names)
    if (names.length === 0) return say(this.#notNeeded(of))
    const known = handedFields.find((each) => each === field)
    return known === undefined
      ? say(`a task has no "${field}"${meantWords(field, handedFields)}`)
      : { needs: names, field: known }
  }

  #notNeeded(of: string): string {
    const words = `"${of}" is not a need of "${this.#task}"`
    const groups = this.#needs.map(({ group }) => group)
    if (nearest(of, groups) !== undefined) return `${words}${meantWords(of, groups)}`
    return `${words}. A prompt hands on only the results of its needs: add ${of} to needs.`
  }

  #matrixValue(name: string, path: Path, reference: string): string {
    const one = this.#combination
    if (one && Object.hasOwn(one, name)) return one[name]!
    const words = one
      ? `the combination (${Object.values(one).join(', ')}) has no "${name}"${meantWords(name, Object.keys(one))}`
      : `the task has no matrix. Add one: matrix: { ${name}: [...] }.`
    this.#problems.add(path, `{{${reference}}}: ${words}`, reference)
    return ''
  }

  #pieces(text: string, path: Path): TemplatePiece[] {
    const { pieces, unclosed } = templatePieces(text)
    if (unclosed !== undefined) {
      const words = `${unclosed}: the template has no end. Close it with }}, or write \\{{ for two braces.`
      this.#problems.add(path, words, unclosed)
    }
    return pieces
  }
}

/** Joins adjacent texts. */
function joinTexts(parts: readonly PromptPart<string>[]): PromptPart<string>[] {
  return parts.reduce<PromptPart<string>[]>((all, part) => {
    const last = all.at(-1)
    if (typeof part === 'string' && typeof last === 'string') all[all.length - 1] = last + part
    else if (part !== '') all.push(part)
    return all
  }, [])
}
