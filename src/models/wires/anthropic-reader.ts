import type { Counted, Heard, Reader, Target } from '../wire.ts'
import { inputOf } from '../paired.ts'
import { Pieces } from '../pieces.ts'

type Block = { type: string; text: string; id: string; name: string; signature: string; data: string }

const stops = {
  end_turn: 'done',
  stop_sequence: 'done',
  pause_turn: 'done',
  tool_use: 'calls',
  max_tokens: 'length',
  refusal: 'refused',
} as const

/** What Anthropic streams: blocks that open, grow and close one after another. */
export function anthropicReader(to: Target): Reader {
  const pieces = new Pieces(to.name)
  const blocks = new Map<number, Block>()
  let counted: Counted = { input: 0, output: 0, cached: 0 }
  let stop: string | undefined

  function* closed({ type, text, id, name, signature, data }: Block): Generator<Heard> {
    if (type === 'text') pieces.text(text.length)
    else if (type === 'thinking') pieces.item({ type, thinking: text, signature })
    else if (type === 'redacted_thinking') pieces.item({ type, data })
    else if (type === 'tool_use') {
      pieces.call(id)
      yield { type: 'call', id, tool: name, input: inputOf(text) }
    }
  }

  function* ended(): Generator<Heard> {
    for (const block of blocks.values()) yield* closed(block)
    if (stop === 'model_context_window_exceeded')
      return yield {
        type: 'trouble',
        trouble: { status: 413, body: { error: { type: stop, message: 'the context window is full' } } },
      }
    yield { type: 'counted', ...counted }
    yield { type: 'end', stop: stops[stop as keyof typeof stops] ?? 'done', ...pieces.opaque() }
  }

  return {
    *read(data) {
      const event = JSON.parse(data)
      switch (event.type) {
        case 'message_start':
          counted = count(event.message?.usage, counted)
          break
        case 'content_block_start': {
          const { type, text = '', thinking = '', signature = '', id = '', name = '', data = '' } = event.content_block
          blocks.set(event.index, { type, text: text || thinking, id, name, signature, data })
          if (text !== '') yield { type: 'text', delta: text }
          break
        }
        case 'content_block_delta': {
          const block = blocks.get(event.index)
          if (block) yield* grown(block, event.delta)
          break
        }
        case 'content_block_stop': {
          const block = blocks.get(event.index)
          blocks.delete(event.index)
          if (block) yield* closed(block)
          break
        }
        case 'message_delta':
          stop = event.delta?.stop_reason ?? stop
          counted = count(event.usage, counted)
          break
        case 'message_stop':
          yield* ended()
          break
        case 'error':
          yield { type: 'trouble', trouble: { body: event } }
      }
    },
    *close() {
      // Some proxies leave the last event out.
      if (stop !== undefined) yield* ended()
    },
  }
}

function* grown(block: Block, delta: any): Generator<Heard> {
  if (delta.type === 'text_delta') {
    block.text += delta.text
    yield { type: 'text', delta: delta.text }
  } else if (delta.type === 'thinking_delta') {
    block.text += delta.thinking
    yield { type: 'thought', delta: delta.thinking }
  } else if (delta.type === 'input_json_delta') block.text += delta.partial_json
  else if (delta.type === 'signature_delta') block.signature += delta.signature
}

/** What is read from the cache and written to it is counted beside the input; the later report wins. */
function count(usage: any, before: Counted): Counted {
  if (!usage) return before
  const cached = usage.cache_read_input_tokens ?? before.cached
  const written = usage.cache_creation_input_tokens ?? before.written ?? 0
  const fresh = usage.input_tokens ?? before.input - before.cached - (before.written ?? 0)
  return { input: fresh + cached + written, output: usage.output_tokens ?? before.output, cached, written }
}
