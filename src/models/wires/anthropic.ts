import type { ModelRequest } from '../../core/work/model.ts'
import type { Effort } from '../../core/profile/effort.ts'
import type { MessageStep } from '../message-steps.ts'
import type { Images, Target, Wire, ReportedUsage, WireEvent, Reader } from '../http/wire-format.ts'
import { pictures } from './message-images.ts'
import { objectOf, messageSteps, inputOf } from '../message-steps.ts'
import { answerPartsOf, AnswerParts } from '../answer-parts.ts'
import { jsonHeaders } from '../http/wire-format.ts'
import { defined } from '../../base/defined.ts'

/** The longest answer that is requested: more than most answers need, and less than the limit of every model. */
const longestAnswer = 32_000

const mark = { type: 'ephemeral' }

/** Anthropic Messages. */
export const anthropic: Wire = {
  options: ['cache_control', 'display', 'effort', 'prefill'],
  framing: 'events',
  request: (request, to, images) => ({
    url: `${to.base}/messages`,
    headers: jsonHeaders({
      'anthropic-version': '2023-06-01',
      'x-api-key': to.key || undefined,
      'anthropic-beta':
        to.known.thinks === 'budget' && budgets[to.effort ?? 'none'] ? 'interleaved-thinking-2025-05-14' : undefined,
    }),
    body: JSON.stringify(body(request, to, images)),
  }),
  reader: anthropicReader,
  // Models up to 4.5 continue a message that they get; newer ones answer 400 ("This model does not support assistant message prefill").
  // With thoughts such a message would have to begin with a signed one, and it may not end with a space.
  prefills: (to, begun) =>
    to.known.thinks === 'budget' &&
    !budgets[to.effort ?? 'none'] &&
    !to.refused.has('prefill') &&
    !/\s$/.test(begun.join('')),
}

function body({ frame, messages, schema, aside }: ModelRequest, to: Target, images: Images): object {
  const { refused } = to
  const output = defined({ ...effort(to), format: schema ? { type: 'json_schema', schema } : undefined })
  return {
    model: to.model,
    max_tokens: Math.min(longestAnswer, to.known.output ?? longestAnswer),
    stream: true,
    // Anthropic itself moves the cache mark at the end of the conversation, so that no earlier byte of the request changes.
    cache_control: refused.has('cache_control') || aside !== undefined ? undefined : mark,
    ...thinking(to),
    output_config: Object.keys(output).length > 0 ? output : undefined,
    tools:
      frame.tools.length === 0
        ? undefined
        : frame.tools.map(({ name, description, schema }) => ({ name, description, input_schema: schema })),
    // In the cache, tools come before the system prompt, so this single mark covers both.
    system: frame.system === '' ? undefined : [{ type: 'text', text: frame.system, cache_control: mark }],
    messages: conversation(messageSteps(messages), to, images),
  }
}

type Message = { role: string; content: string | object[] }

/**
 * The messages. If there is a message for this request alone, the cache mark is put before it: after that place, the next request is
 * different.
 */
function conversation(steps: readonly MessageStep[], to: Target, images: Images): Message[] {
  const messages = steps.map((step) => message(step, to, images))
  const aside = steps.findIndex((step) => step.role === 'user' && step.aside)
  const last = messages[aside - 1]
  if (!last || to.refused.has('cache_control')) return messages
  const blocks = typeof last.content === 'string' ? [{ type: 'text', text: last.content }] : last.content
  const content = [...blocks.slice(0, -1), { ...blocks.at(-1), cache_control: mark }]
  return messages.with(aside - 1, { ...last, content })
}

/** Thinking budgets in tokens, for the models that use them. */
const budgets: Partial<Record<Effort, number>> = {
  minimal: 1024,
  low: 4096,
  medium: 8192,
  high: 16_384,
  xhigh: 24_576,
  max: 24_576,
}

function thinking({ known, effort, refused }: Target): object {
  const display = refused.has('display') ? {} : { display: 'summarized' }
  if (known.thinks === 'adaptive')
    return { thinking: effort === 'none' ? { type: 'disabled' } : { type: 'adaptive', ...display } }
  const budget = known.thinks === 'budget' ? budgets[effort ?? 'none'] : undefined
  return budget ? { thinking: { type: 'enabled', budget_tokens: budget } } : {}
}

function effort({ known, effort, refused }: Target): object {
  if (known.thinks !== 'adaptive' || !effort || effort === 'none' || refused.has('effort')) return {}
  return { effort: effort === 'minimal' ? 'low' : effort }
}

function message(step: MessageStep, to: Target, images: Images): Message {
  const shown = (files: Parameters<typeof pictures>[0]) =>
    pictures(files, images).map((picture) =>
      'missing' in picture
        ? { type: 'text', text: picture.missing }
        : { type: 'image', source: { type: 'base64', media_type: picture.media, data: picture.data } },
    )
  if (step.role === 'user') {
    const files = shown(step.files)
    if (files.length === 0) return { role: 'user', content: step.text }
    return { role: 'user', content: [...files, ...(step.text === '' ? [] : [{ type: 'text', text: step.text }])] }
  }
  if (step.role === 'results')
    return {
      role: 'user',
      content: step.results.map(({ call, ok, text, files }) => {
        const seen = shown(files)
        const content = seen.length === 0 ? text : [...(text === '' ? [] : [{ type: 'text', text }]), ...seen]
        return { type: 'tool_result', tool_use_id: idOf(call), content, is_error: ok ? undefined : true }
      }),
    }
  const content = answerPartsOf(step, to.name).flatMap((piece): object[] => {
    if (piece.type === 'item') return [piece.item]
    if (piece.type === 'call')
      return [{ type: 'tool_use', id: idOf(piece.call.id), name: piece.call.tool, input: objectOf(piece.call.input) }]
    // Anthropic refuses blocks with only white space, even ones that it sent itself.
    return piece.text.trim() === '' ? [] : [{ type: 'text', text: piece.text }]
  })
  return { role: 'assistant', content: content.length > 0 ? content : [{ type: 'text', text: '(nothing)' }] }
}

/** Another provider's ids may contain characters that Anthropic does not allow. */
const idOf = (id: string) => id.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64)

type Block = { type: string; text: string; id: string; name: string; signature: string; data: string }

const stops = {
  end_turn: 'done',
  stop_sequence: 'done',
  pause_turn: 'done',
  tool_use: 'calls',
  max_tokens: 'length',
  refusal: 'refused',
} as const

/** Parses Anthropic's stream: blocks that open, grow and close one after another. */
function anthropicReader(to: Target): Reader {
  const pieces = new AnswerParts(to.name)
  const blocks = new Map<number, Block>()
  let counted: ReportedUsage = { input: 0, output: 0, cached: 0 }
  let stop: string | undefined

  function* closeBlock({ type, text, id, name, signature, data }: Block): Generator<WireEvent> {
    if (type === 'text') pieces.text(text.length)
    else if (type === 'thinking') pieces.item({ type, thinking: text, signature })
    else if (type === 'redacted_thinking') pieces.item({ type, data })
    else if (type === 'tool_use') {
      pieces.call(id)
      yield { type: 'call', id, tool: name, input: inputOf(text) }
    }
  }

  function* endAnswer(): Generator<WireEvent> {
    for (const block of blocks.values()) yield* closeBlock(block)
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
          if (block) yield* growBlock(block, event.delta)
          break
        }
        case 'content_block_stop': {
          const block = blocks.get(event.index)
          blocks.delete(event.index)
          if (block) yield* closeBlock(block)
          break
        }
        case 'message_delta':
          stop = event.delta?.stop_reason ?? stop
          counted = count(event.usage, counted)
          break
        case 'message_stop':
          yield* endAnswer()
          break
        case 'error':
          yield { type: 'trouble', trouble: { body: event } }
      }
    },
    *close() {
      // Some proxies leave out the last event.
      if (stop !== undefined) yield* endAnswer()
    },
    counted: () => (counted.input > 0 ? counted : undefined),
  }
}

function* growBlock(block: Block, delta: any): Generator<WireEvent> {
  if (delta.type === 'text_delta') {
    block.text += delta.text
    yield { type: 'text', delta: delta.text }
  } else if (delta.type === 'thinking_delta') {
    block.text += delta.thinking
    yield { type: 'thought', delta: delta.thinking }
  } else if (delta.type === 'input_json_delta') block.text += delta.partial_json
  else if (delta.type === 'signature_delta') block.signature += delta.signature
}

/**
 * Adds up the usage. Anthropic counts tokens read from and written to the cache separately from the input; a later report replaces an
 * earlier one.
 */
function count(usage: any, before: ReportedUsage): ReportedUsage {
  if (!usage) return before
  const cached = usage.cache_read_input_tokens ?? before.cached
  const written = usage.cache_creation_input_tokens ?? before.written ?? 0
  const fresh = usage.input_tokens ?? before.input - before.cached - (before.written ?? 0)
  return { input: fresh + cached + written, output: usage.output_tokens ?? before.output, cached, written }
}
