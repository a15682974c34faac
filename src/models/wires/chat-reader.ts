import type { Counted, Heard, Reader, Target } from '../wire.ts'
import { randomName } from '../../base/id.ts'
import { inputOf } from '../paired.ts'
import { Pieces } from '../pieces.ts'

type Call = { id: string; name: string; written: string }
type Detail = Record<string, unknown> & { type?: string; index?: number }

const stops = { length: 'length', content_filter: 'refused' } as const

/** The names that servers have for what a model thinks. */
const thoughts = ['reasoning_content', 'reasoning', 'reasoning_text'] as const

/** What a chat server streams: parts of one message, whose calls are whole only at its end. */
export function chatReader(to: Target): Reader {
  const pieces = new Pieces(to.name)
  const calls: (Call & { index: number | undefined })[] = []
  const details: Detail[] = []
  let thought: { name: string; text: string } | undefined
  let counted: Counted | undefined
  let finish: string | undefined
  let refused = false

  function* heard(delta: any): Generator<Heard> {
    const name = thoughts.find((one) => typeof delta[one] === 'string' && delta[one] !== '')
    if (name) {
      thought ??= { name, text: '' }
      thought.text += delta[name]
      yield { type: 'thought', delta: delta[name] }
    }
    for (const detail of delta.reasoning_details ?? []) join(details, detail)
    for (const text of [delta.content, delta.refusal]) {
      if (typeof text !== 'string' || text === '') continue
      refused ||= text === delta.refusal
      pieces.text(text.length)
      yield { type: 'text', delta: text }
    }
    for (const part of delta.tool_calls ?? []) grow(calls, part)
  }

  function* ended(): Generator<Heard> {
    if (details.length > 0) pieces.item({ reasoning_details: details })
    else if (thought) pieces.item({ [thought.name]: thought.text })
    for (const { id, name, written } of calls) {
      pieces.call(id)
      yield { type: 'call', id, tool: name, input: inputOf(written) }
    }
    if (counted) yield { type: 'counted', ...counted }
    const stop = refused ? 'refused' : stops[finish as keyof typeof stops]
    const opaque = calls.length > 0 ? pieces.opaque() : {}
    yield { type: 'end', stop: stop ?? (calls.length > 0 ? 'calls' : 'done'), ...opaque }
  }

  return {
    *read(data) {
      if (data === '[DONE]') return yield* ended()
      const chunk = JSON.parse(data)
      if (chunk.error) return yield { type: 'trouble', trouble: { body: chunk } }
      counted = count(chunk.usage ?? chunk.x_groq?.usage) ?? counted
      const choice = chunk.choices?.[0]
      if (!choice) return
      if (choice.error || choice.finish_reason === 'error')
        return yield { type: 'trouble', trouble: { body: { error: choice.error ?? 'the model broke off' } } }
      if (choice.delta) yield* heard(choice.delta)
      finish = choice.finish_reason ?? finish
    },
    *close() {
      // Not every server says [DONE].
      if (finish !== undefined) yield* ended()
    },
  }
}

/** Parts of a call come by its number; servers that number nothing send it whole, or begin each with its id. */
function grow(calls: (Call & { index: number | undefined })[], part: any): void {
  const { index, id, function: { name, arguments: written } = {} as any } = part
  const last = calls.findLast((call) => index === undefined || call.index === index)
  const same = last && (!id || last.id === id) ? last : undefined
  const call = same ?? { index, id: id || `call_${randomName()}`, name: '', written: '' }
  if (!same) calls.push(call)
  if (name && call.name === '') call.name = name
  call.written += typeof written === 'object' && written !== null ? JSON.stringify(written) : (written ?? '')
}

/** Thoughts as OpenRouter hands them on: parts of one have one number and grow together. */
function join(details: Detail[], part: Detail): void {
  const last = details.at(-1)
  if (!last || last.type !== part.type || last.index !== part.index) return void details.push({ ...part })
  for (const [key, value] of Object.entries(part)) {
    const grows = (key === 'text' || key === 'summary' || key === 'data') && typeof last[key] === 'string'
    if (grows) last[key] = `${last[key]}${value ?? ''}`
    else if (value !== null && value !== undefined) last[key] = value
  }
}

function count(usage: any): Counted | undefined {
  if (!usage) return undefined
  return {
    input: usage.prompt_tokens ?? 0,
    output: usage.completion_tokens ?? 0,
    cached: usage.prompt_tokens_details?.cached_tokens ?? 0,
    ...(typeof usage.cost === 'number' ? { cost: usage.cost } : {}),
  }
}
