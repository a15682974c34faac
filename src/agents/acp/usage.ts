import type { Usage } from '../../core/talk/entry.ts'

type Tokens = { input: number; output: number; cached: number }

/**
 * What a turn cost, from the places where agents say it: the reply to the prompt (`usage`, or Gemini's
 * `_meta.quota.token_count`), or `_meta.usage` of each step's last chunk, as Qwen does.
 */
export class Spent {
  #steps: Tokens | undefined

  step(meta: unknown): void {
    const tokens = tokensOf(at(meta, 'usage'))
    if (!tokens) return
    const { input, output, cached } = this.#steps ?? { input: 0, output: 0, cached: 0 }
    this.#steps = { input: input + tokens.input, output: output + tokens.output, cached: cached + tokens.cached }
  }

  usage(response: unknown): Usage | undefined {
    const counted = at(at(at(response, '_meta'), 'quota'), 'token_count')
    const tokens = tokensOf(at(response, 'usage')) ?? tokensOf(counted) ?? this.#steps
    return tokens && { type: 'usage', ...tokens, source: 'reported' }
  }
}

function tokensOf(said: unknown): Tokens | undefined {
  const input = count(said, 'inputTokens', 'input_tokens')
  const output = count(said, 'outputTokens', 'output_tokens')
  const cached = count(said, 'cachedReadTokens', 'cached_tokens')
  const total = count(said, 'totalTokens', 'total_tokens')
  if (input + output === 0) return undefined
  // Some count cached tokens in the input and some beside it, and thoughts in the total alone: the total decides.
  const read = Math.max(input, Math.min(input + cached, total - output))
  return { input: read, output: Math.max(output, total - read), cached }
}

function at(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined
}

function count(said: unknown, ...names: string[]): number {
  const value = names.map((name) => at(said, name)).find((found) => typeof found === 'number')
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}
