import type { Entry, Fact, Trim } from '../../core/talk/entry.ts'
import type { Frame } from '../../core/work/model.ts'
import { estimateTokens, viewTokens } from '../../core/talk/tokens.ts'
import { endedTurns, view as viewOf, withoutOutput } from '../../core/talk/view.ts'

/** How full the window may get before old tool output is left out. */
const trimAt = 0.5

/**
 * The share of the window that a trim must free: it changes what was sent before, and so loses the provider's cache.
 */
const worth = { turns: 0.05, steps: 0.1 }

/**
 * How many of the last steps of a running turn stay whole, because the next ones build on them. Where they alone would
 * fill the window, fewer stay.
 */
const stepsKept = [3, 2, 1]

/** How full the window may be after the older steps were left out. */
const fullAt = 0.75

/** A trim, and the number of tokens it frees. */
type Due = { trim: Trim; frees: number }

/** The trim that leaves out the tool output of ended turns; the last turn keeps its own. */
function turnsDue(view: readonly Entry[], window: number): Due | undefined {
  const through = endedTurns(view).at(-2)?.end.id
  if (through === undefined) return undefined
  const trim: Trim = { type: 'trim', through }
  const frees = viewTokens(view) - viewTokens(trimmed(view, trim))
  return frees > window * worth.turns ? { trim, frees } : undefined
}

/** The trim that leaves out the long inputs and outputs of a running turn's old steps: one turn may fill a window. */
function stepsDue(done: readonly Fact[], window: number, used: number): Due | undefined {
  const steps = new Map(done.flatMap((fact) => (fact.type === 'call' ? [[fact.call, fact.step ?? 0]] : [])))
  const newest = Math.max(0, ...steps.values())
  const already = done.findLast((fact) => fact.type === 'trim' && fact.step !== undefined)
  const from = already?.type === 'trim' ? already.step! : 0
  const dues = stepsKept.map((kept): Due => {
    const step = newest - kept
    const old = done.filter((fact) => {
      const at = fact.type === 'result' || fact.type === 'call' ? (steps.get(fact.call) ?? 0) : 0
      return at > from && at <= step
    })
    return { trim: { type: 'trim', step }, frees: tokensOf(old) - tokensOf(old.map(withoutOutput)) }
  })
  const due = dues.find(({ frees }) => used - frees <= window * fullAt) ?? dues.at(-1)!
  return due.frees > window * worth.steps ? due : undefined
}

/** The view as a trim leaves it. */
export function trimmed(view: readonly Entry[], trim: Trim): Entry[] {
  return viewOf([...view, { ...trim, id: '', at: 0, by: 'termaite', session: '', turn: '' }])
}

const tokensOf = (facts: readonly Fact[]) => facts.reduce((sum, fact) => sum + estimateTokens(JSON.stringify(fact)), 0)

/** Counts how much of the window a turn takes, from request to request. */
export class WindowUse {
  #history: readonly Entry[]
  #tokens: number
  #counted = 0

  constructor(frame: Frame, history: readonly Entry[]) {
    this.#history = history
    this.#tokens = frameTokens(frame) + viewTokens(history)
  }

  /**
   * The trim that is due before the next request, if any; `window` is handed in late because a local model reports
   * its size late.
   */
  due(done: readonly Fact[], window: number): Trim[] {
    this.#tokens += tokensOf(done.slice(this.#counted))
    this.#counted = done.length
    if (this.#tokens <= window * trimAt) return []
    const turns = turnsDue(this.#history, window)
    const steps = stepsDue(done, window, this.#tokens - (turns?.frees ?? 0))
    if (turns) this.#history = trimmed(this.#history, turns.trim)
    this.#tokens -= (turns?.frees ?? 0) + (steps?.frees ?? 0)
    const trim = { type: 'trim' as const, ...turns?.trim, ...steps?.trim }
    return turns || steps ? [trim] : []
  }
}

const frameTokens = ({ system, tools }: Frame) => estimateTokens(system) + estimateTokens(JSON.stringify(tools))
