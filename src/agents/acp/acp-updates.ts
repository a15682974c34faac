import type { ContentBlock, ContentChunk, SessionNotification } from '@agentclientprotocol/sdk'
import type { Clock } from '../../base/time/clock.ts'
import type { AcpFacts } from '../../core/profile/profile.ts'
import type { Failure } from '../../core/talk/outcome.ts'
import type { Emit } from '../seat.ts'
import type { Calls } from './acp-calls.ts'
import type { Usage } from '../../core/talk/entry.ts'
import { AnsiStripper } from '../../base/text/ansi.ts'

type UpdateParts = {
  emit: Emit
  calls: Calls
  spent: SpentTokens
  facts: Pick<AcpFacts, 'aside' | 'fault' | 'failure'> | undefined
  clock: Clock
}

type Voice = 'text' | 'thought'

/** Turns an agent's updates into events, and collects its text for the reply. */
export class UpdateReader {
  #parts: UpdateParts
  #strippers: Record<Voice, AnsiStripper> = { text: new AnsiStripper(), thought: new AnsiStripper() }
  #speaking: Voice | undefined
  #texts: string[] = ['']
  #message: string | undefined
  #fault: Failure | undefined

  constructor(parts: UpdateParts) {
    this.#parts = parts
  }

  /** The failure that the agent reported as text. */
  get fault(): Failure | undefined {
    return this.#fault
  }

  get answer(): string {
    return this.#texts
      .map((text) => text.trim())
      .filter((text) => text !== '')
      .join('\n\n')
  }

  async hear({ update }: SessionNotification): Promise<void> {
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
        this.#parts.spent.step(update._meta)
        return this.#say('text', update)
      case 'agent_thought_chunk':
        return this.#say('thought', update)
      case 'tool_call':
      case 'tool_call_update':
        await this.pause()
        return this.#parts.calls.hear(update)
      case 'plan': {
        await this.pause()
        const items = update.entries.map(({ content, status }) => ({ task: content, status }))
        return this.#parts.emit({ type: 'plan', items })
      }
      default:
        return
    }
  }

  /** Emits the text that a stripper still buffers, before an event of another kind; the next text begins a new paragraph. */
  async pause(): Promise<void> {
    const voice = this.#speaking
    this.#speaking = undefined
    if (voice === undefined) return
    await this.#out(voice, this.#strippers[voice].end())
    if (voice === 'text') this.#texts.push('')
  }

  async #say(voice: Voice, { content, messageId }: ContentChunk): Promise<void> {
    const text = textOf(content)
    if (text === '' || (voice === 'text' && this.#isRemark(text))) return
    if (this.#speaking !== voice || (messageId ?? undefined) !== this.#message) await this.pause()
    this.#speaking = voice
    this.#message = messageId ?? undefined
    await this.#out(voice, this.#strippers[voice].push(text))
  }

  /** Whether a text is a remark of the CLI rather than a part of the answer. A failure counts as one unless more text follows. */
  #isRemark(text: string): boolean {
    const { facts, clock } = this.#parts
    this.#fault = facts?.fault?.test(text) ? facts.failure(text, clock.now()) : undefined
    return this.#fault !== undefined || facts?.aside?.test(text) === true
  }

  async #out(voice: Voice, delta: string): Promise<void> {
    if (delta === '') return
    if (voice === 'text') this.#texts.push(this.#texts.pop() + delta)
    await this.#parts.emit({ type: voice, delta })
  }
}

function textOf(content: ContentBlock): string {
  switch (content.type) {
    case 'text':
      return content.text
    case 'resource_link':
      return content.uri
    default:
      return `[${content.type}]`
  }
}

type Tokens = { input: number; output: number; cached: number }

/**
 * The tokens of a turn. Agents report them in different places: in the reply to the prompt (`usage`, or Gemini's
 * `_meta.quota.token_count`), or, like Qwen, in `_meta.usage` of each step's last chunk.
 */
export class SpentTokens {
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
  // Agents count cached tokens within the input or separately, and thoughts only in the total: the total decides.
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
