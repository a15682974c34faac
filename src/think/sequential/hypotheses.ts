import type { ThinkingTurn } from '../thinking-turn.ts'
import { list, oneOf, string } from '../../core/data/shape.ts'
import { answerShape, part } from '../../core/data/json-answer.ts'
import { quoted } from '../prompt-text.ts'

/** A possible cause, and the command whose output shows whether it is the cause. */
export type Hypothesis = { cause: string; why: string; diagnostic: string; expects: string }

export const verdicts = ['confirmed', 'rejected', 'unclear'] as const

/** A hypothesis after its test; `more`: further hypotheses suggested by the test. */
export type TestedHypothesis = {
  hypothesis: Hypothesis
  verdict: (typeof verdicts)[number]
  more: readonly Hypothesis[]
}

export const hypothesisField = part({
  cause: string({ min: 1 }),
  why: string(),
  diagnostic: string({ min: 1 }),
  expects: string(),
})

/** `wants`: whether the person asked for an explanation or for a fix. */
export const hypothesesShape = answerShape({ wants: oneOf('answer', 'fix'), hypotheses: list(hypothesisField, 1) })

export const diagnosticInstructions =
  'A diagnostic is one shell command that looks and changes nothing (no edit, no installation, no restart), needs no person, and ends by itself within two minutes. Its output must differ between this cause being true and not: the cheapest command that tells them apart.'

export function hypothesesPrompt({ turn, resources }: ThinkingTurn): string {
  return [
    'You are a diagnostician. Something does not work, and the cause is not known. Read what you need in the project; change nothing and fix nothing.',
    quoted('task', turn.prompt),
    resources.machine.description,
    'Name what may be the cause: at most five, each a different mechanism, the likeliest first. "cause": the mechanism in one sentence, precise enough to be wrong. "why": what you saw that speaks for it. "diagnostic": the command that tests it. "expects": what it prints if this is the cause, and what if it is not.',
    diagnosticInstructions,
    '"wants": "fix" when the person wants it to work again; "answer" when they only ask why, or what is the matter, and nothing is to be changed.',
  ].join('\n\n')
}

const mostTested = 7
const mostUnclear = 3

/** The hypotheses that are still to be tested: no duplicates, none whose cause was ruled out, and only a limited number. */
export class UntestedHypotheses {
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

  /** The hypotheses that would be tested after the last one. */
  get left(): readonly Hypothesis[] {
    return this.#open.slice(0, mostTested - this.#tested)
  }

  /** Puts hypotheses that an observation suggested before those that were guessed without one. */
  learn(found: readonly TestedHypothesis[]): void {
    const last = found.at(-1)
    if (!last) return
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
