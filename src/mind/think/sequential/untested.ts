import type { Finding } from './finding.ts'
import type { Hypothesis } from './hypothesis.ts'

const mostTested = 7
const mostUnclear = 3

/** What is still to be tested: nothing twice, no cause that was ruled out, and not for ever. */
export class Untested {
  #open: Hypothesis[] = []
  #met = new Set<string>()
  #tested = 0
  #unclear = 0

  constructor(named: readonly Hypothesis[]) {
    this.#add(named, [])
  }

  next(): Hypothesis | undefined {
    if (this.#tested === mostTested || this.#unclear === mostUnclear) return undefined
    const next = this.#open.shift()
    if (next) this.#tested++
    return next
  }

  /** What would come after it, as far as anything would. */
  get left(): readonly Hypothesis[] {
    return this.#open.slice(0, mostTested - this.#tested)
  }

  /** What an observation brought up goes before what was guessed without it. */
  learn(found: readonly Finding[]): void {
    const last = found.at(-1)!
    this.#unclear = last.verdict === 'unclear' ? this.#unclear + 1 : 0
    const out = found.flatMap(({ verdict, hypothesis }) => (verdict === 'rejected' ? [plain(hypothesis.cause)] : []))
    const open = this.#open.filter(({ cause }) => !out.includes(plain(cause)))
    this.#open = []
    this.#add(last.more, out)
    this.#open.push(...open)
  }

  #add(named: readonly Hypothesis[], out: readonly string[]): void {
    for (const one of named) {
      const key = `${plain(one.cause)}\n${one.diagnostic.trim()}`
      if (this.#met.has(key) || out.includes(plain(one.cause))) continue
      this.#met.add(key)
      this.#open.push(one)
    }
  }
}

const plain = (words: string) => words.toLowerCase().replaceAll(/\W+/g, ' ').trim()
