import type { Finding, Part, Span, Touched } from './shell-judgement.ts'
import { defined } from '../../base/defined.ts'
import { is } from './shell-judgement.ts'

/** The words of a command: all of them, or only the known ones. */
export type Arguments = Pick<Part, 'argv' | 'words'>

/** The judged parts of a command, each with its place in the command that the person sees. */
export class JudgedParts {
  readonly all: Part[] = []
  /** The words of the outermost command whose package script is being judged. */
  #runner: readonly string[] | undefined
  /** The place of the outermost command that is being judged. */
  #span: Span | undefined

  /** Judges a part of the command itself at its place; parts of scripts inside it get the place of their command. */
  async at<T>(depth: number, span: Span | undefined, work: () => Promise<T>): Promise<T> {
    const outer = this.#span
    if (depth === 0 && (outer === undefined || span !== undefined)) this.#span = span
    try {
      return await work()
    } finally {
      this.#span = outer
    }
  }

  /** Judges a package script on behalf of the command that runs it; the outermost such command is recorded. */
  async runBy(words: readonly string[] | undefined, work: () => Promise<void>): Promise<void> {
    const outer = this.#runner
    this.#runner ??= words
    try {
      await work()
    } finally {
      this.#runner = outer
    }
  }

  add(text: string, argv: Arguments | undefined, { class: kind, why }: Finding, paths: Touched[] = []): void {
    const script = this.#runner
    this.all.push(defined({ text, ...argv, script, class: kind, why, paths, span: this.#span }))
  }

  odd(text: string, why: string): void {
    this.add(text, undefined, is('dynamic', why))
  }
}
