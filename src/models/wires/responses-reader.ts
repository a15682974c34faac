import type { Heard, Reader, Target } from '../wire.ts'
import { inputOf } from '../paired.ts'
import { Pieces } from '../pieces.ts'

/** What OpenAI streams: items that grow, and are told whole once they are done. */
export function responsesReader(to: Target): Reader {
  const pieces = new Pieces(to.name)
  /** How much of an item's words went by already. */
  const streamed = new Map<number, number>()
  let calls = 0
  let refused = false

  function* said(index: number, delta: string): Generator<Heard> {
    streamed.set(index, (streamed.get(index) ?? 0) + delta.length)
    yield { type: 'text', delta }
  }

  function* done(item: any, index: number): Generator<Heard> {
    if (item.type === 'function_call') {
      calls++
      pieces.call(item.call_id)
      yield { type: 'call', id: item.call_id, tool: item.name, input: inputOf(item.arguments ?? '') }
    } else if (item.type === 'reasoning') {
      const { id: _id, status: _status, ...sealed } = item
      // Without its seal it says nothing to the next request.
      if (sealed.encrypted_content) pieces.item(sealed)
    } else if (item.type === 'message') {
      const parts: { type: string; text?: string; refusal?: string }[] = item.content ?? []
      const text = parts.map((part) => part.text ?? part.refusal ?? '').join('')
      refused ||= parts.some(({ type }) => type === 'refusal')
      const rest = text.slice(streamed.get(index) ?? 0)
      if (rest !== '') yield* said(index, rest)
      pieces.text(streamed.get(index) ?? 0, item.phase ? { phase: item.phase } : undefined)
    }
  }

  function* ended(response: any, stop: 'done' | 'length' | 'refused'): Generator<Heard> {
    const { usage } = response
    if (usage)
      yield {
        type: 'counted',
        input: usage.input_tokens ?? 0,
        output: usage.output_tokens ?? 0,
        cached: usage.input_tokens_details?.cached_tokens ?? 0,
        ...writtenOf(usage.input_tokens_details),
      }
    const called = stop === 'done' && calls > 0
    yield { type: 'end', stop: refused ? 'refused' : called ? 'calls' : stop, ...pieces.opaque() }
  }

  return {
    *read(data) {
      if (data === '[DONE]') return
      const event = JSON.parse(data)
      switch (event.type) {
        case 'response.output_text.delta':
        case 'response.refusal.delta':
          yield* said(event.output_index, event.delta)
          break
        case 'response.reasoning_summary_text.delta':
        case 'response.reasoning_text.delta':
          yield { type: 'thought', delta: event.delta }
          break
        case 'response.reasoning_summary_part.added':
          if (event.summary_index > 0) yield { type: 'thought', delta: '\n\n' }
          break
        case 'response.output_item.done':
          yield* done(event.item, event.output_index)
          break
        case 'response.completed':
          yield* ended(event.response, 'done')
          break
        case 'response.incomplete':
          yield* ended(
            event.response,
            event.response.incomplete_details?.reason === 'content_filter' ? 'refused' : 'length',
          )
          break
        case 'response.failed':
          yield { type: 'trouble', trouble: { body: event.response } }
          break
        case 'error':
          yield { type: 'trouble', trouble: { body: event } }
      }
    },
    *close() {},
  }
}

const writtenOf = (details: any) => (details?.cache_write_tokens ? { written: details.cache_write_tokens } : {})
