import type { Entry, Fact, Trim } from '../../../core/talk/entry.ts'
import type { Frame } from '../../../core/work/model.ts'
import { estimateTokens, viewTokens } from '../../../core/talk/tokens.ts'
import { stepsDue, tokensOf, trimAt, trimmed, turnsDue } from './trim.ts'

/** How much of a window one turn takes, from request to request. */
export class Room {
  #history: readonly Entry[]
  #tokens: number
  #counted = 0

  constructor(frame: Frame, history: readonly Entry[]) {
    this.#history = history
    this.#tokens = frameTokens(frame) + viewTokens(history)
  }

  /** What is left out before the next request, in one batch; how much a local model takes is known late. */
  due(done: readonly Fact[], window: number): Trim[] {
    this.#tokens += tokensOf(done.slice(this.#counted))
    this.#counted = done.length
    if (this.#tokens <= window * trimAt) return []
    const [turns, steps] = [turnsDue(this.#history, window), stepsDue(done, window)]
    if (turns) this.#history = trimmed(this.#history, turns.trim)
    this.#tokens -= (turns?.frees ?? 0) + (steps?.frees ?? 0)
    const trim = { type: 'trim' as const, ...turns?.trim, ...steps?.trim }
    return turns || steps ? [trim] : []
  }
}

export const frameTokens = ({ system, tools }: Frame) => estimateTokens(system) + estimateTokens(JSON.stringify(tools))
