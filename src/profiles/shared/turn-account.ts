import type { Ended, Step } from '../../core/work/profile.ts'
import type { Usage } from '../../core/talk/entry.ts'
import type { Failure } from '../../core/talk/outcome.ts'
import { brokenOff, denial } from './jsonl.ts'

type Tokens = { input: number; output: number; cached: number; cost: number }

/** What a turn comes to, for CLIs that print no last word with the whole answer: gathered as it goes by. */
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

  /** It says itself that the turn went well: an error before was ridden over. */
  done(): void {
    this.#failure = undefined
    this.#done = true
  }

  /** What was under way goes on: it is not over yet. */
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
    return { ok: true as const, text: this.#texts.join('\n\n'), ...(denials.length > 0 ? { denials } : {}) }
  }

  #usage(): Usage[] {
    if (!this.#spent) return []
    const { cost, ...tokens } = this.#spent
    if (tokens.input + tokens.output === 0) return []
    // A price of nothing is a price nobody knows.
    return [{ type: 'usage', ...tokens, ...(cost > 0 ? { cost } : {}), source: 'reported' }]
  }
}
