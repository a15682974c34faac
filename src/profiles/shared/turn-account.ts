import type { Ended, Step } from '../../core/profile/profile.ts'
import type { Usage } from '../../core/talk/entry.ts'
import type { Failure } from '../../core/talk/outcome.ts'
import { defined } from '../../base/defined.ts'
import { brokenOff, denial } from './jsonl.ts'

type Tokens = { input: number; output: number; cached: number; cost: number }

/** Collects the outcome of a turn from a CLI's events, for CLIs that print no final event with the whole answer. */
export class TurnAccount {
  #texts: string[] = []
  #denials = new Set<string>()
  #spent: Tokens | undefined
  #failure: Failure | undefined
  #done = false

  say(text: string): void {
    if (text.trim() !== '') this.#texts.push(text.trim())
  }

  deny(tool: string, input?: unknown): void {
    this.#denials.add(input === undefined ? tool : denial(tool, input))
  }

  spend(tokens: Tokens): void {
    const { input, output, cached, cost } = this.#spent ?? { input: 0, output: 0, cached: 0, cost: 0 }
    this.#spent = {
      input: input + tokens.input,
      output: output + tokens.output,
      cached: cached + tokens.cached,
      cost: cost + tokens.cost,
    }
  }

  fail(failure: Failure): void {
    this.#failure = failure
  }

  /** The CLI reports that the turn succeeded: an earlier error was overcome. */
  done(): void {
    this.#failure = undefined
    this.#done = true
  }

  /** The turn continues. */
  goOn(): void {
    this.#done = false
  }

  end(title: string, ended: Ended, known: (ended: Ended) => Failure | undefined): Step[] {
    return [...this.#usage(), { type: 'end', outcome: this.#outcome(title, ended, known) }]
  }

  #outcome(title: string, ended: Ended, known: (ended: Ended) => Failure | undefined) {
    const failure = this.#failure ?? (this.#done || ended.code === 0 ? undefined : known(ended))
    if (failure) return { ok: false as const, failure }
    if (!this.#done && ended.code !== 0) return brokenOff(title, ended)
    const denials = [...this.#denials]
    const text = this.#texts.join('\n\n')
    return defined({ ok: true as const, text, denials: denials.length > 0 ? denials : undefined })
  }

  #usage(): Usage[] {
    if (!this.#spent) return []
    const { cost, ...tokens } = this.#spent
    if (tokens.input + tokens.output === 0) return []
    // A cost of 0 means that the price is unknown.
    return [defined<Usage>({ type: 'usage', ...tokens, cost: cost > 0 ? cost : undefined, source: 'reported' })]
  }
}
