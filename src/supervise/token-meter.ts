import type { Usage } from '../core/talk/entry.ts'
import { groupDigits } from '../base/text/number-words.ts'

type Source = Usage['source'] | 'earlier'

// "1,234 tokens used"; "usage: {"input_tokens":12,"output_tokens":3}"
const used = /\b(\d[\d,]*) tokens used\b/
const usage = /\busage:\s*(\{.*?\})/i

/** Sums up the tokens of an agent: as its CLI reports them, otherwise as it prints them, otherwise estimated. */
export class TokenMeter {
  #sums: Partial<Record<Source, number>> = {}
  #printed = 0

  constructor(before = 0) {
    if (before > 0) this.#sums.earlier = before
  }

  get total(): number {
    return Object.values(this.#sums).reduce((sum, tokens) => sum + tokens, 0)
  }

  /** Reads a line of the screen: the printed tokens of a turn replace an estimate. */
  see(line: string): void {
    const tokens = printedIn(line)
    if (tokens !== undefined) this.#printed = tokens
  }

  spend({ input, output, source }: Pick<Usage, 'input' | 'output' | 'source'>): void {
    const printed = source === 'estimated' && this.#printed > 0
    const [as, tokens] = printed ? (['parsed', this.#printed] as const) : ([source, input + output] as const)
    this.#sums[as] = (this.#sums[as] ?? 0) + tokens
    this.#printed = 0
  }

  /** A line for the end of a session; undefined if no tokens were used. */
  words(): string | undefined {
    const parts = Object.entries(this.#sums).map(([source, tokens]) => `${groupDigits(tokens)} ${source}`)
    return parts.length === 0 ? undefined : `Tokens: ${groupDigits(this.total)} (${parts.join(', ')})`
  }
}

function printedIn(line: string): number | undefined {
  const said = used.exec(line)?.[1]
  if (said !== undefined) return Number(said.replaceAll(',', ''))
  try {
    const { input_tokens: input, output_tokens: output } = JSON.parse(usage.exec(line)?.[1] ?? '{}') as {
      input_tokens?: number
      output_tokens?: number
    }
    return typeof input === 'number' && typeof output === 'number' ? input + output : undefined
  } catch {
    return undefined
  }
}
