import type { Asked, Reply, Speech, Tokens } from './script.ts'
import { json, planResets, stream, tokens } from './script.ts'

type Block = { start: object; deltas: object[]; whole: object }

const event = (type: string, data: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`

const opening = (asked: Asked, used: Tokens) => ({
  id: `msg_${asked.count}`,
  type: 'message',
  role: 'assistant',
  model: asked.body.model,
  content: [] as object[],
  stop_reason: null,
  stop_sequence: null,
  usage: {
    input_tokens: used.input - used.cached,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: used.cached,
    output_tokens: 1,
  },
})

function blockEvents({ start, deltas }: Block, index: number) {
  return [
    event('content_block_start', { index, content_block: start }),
    ...deltas.map((delta) => event('content_block_delta', { index, delta })),
    event('content_block_stop', { index }),
  ].join('')
}

/** The same message streamed or whole, as the request wants it: a broken stream is asked for again whole. */
function reply(asked: Asked, blocks: Block[], stop: string, used: Tokens = tokens): Reply {
  const ended = { stop_reason: stop, stop_sequence: null }
  if (asked.body.stream !== true) {
    const message = { ...opening(asked, used), ...ended, content: blocks.map((block) => block.whole) }
    return json(200, { ...message, usage: { ...message.usage, output_tokens: used.output } })
  }
  return stream(
    [
      event('message_start', { message: opening(asked, used) }),
      ...blocks.map(blockEvents),
      event('message_delta', { delta: ended, usage: { output_tokens: used.output } }),
      event('message_stop', {}),
    ].join(''),
  )
}

const words = (text: string): Block => ({
  start: { type: 'text', text: '' },
  deltas: text.split(/(?<=\s)/).map((part) => ({ type: 'text_delta', text: part })),
  whole: { type: 'text', text },
})

const thinking = (text: string): Block => ({
  start: { type: 'thinking', thinking: '', signature: '' },
  deltas: [
    { type: 'thinking_delta', thinking: text },
    { type: 'signature_delta', signature: 'c2lnbmVk' },
  ],
  whole: { type: 'thinking', thinking: text, signature: 'c2lnbmVk' },
})

const call = (asked: Asked, tool: string, input: unknown): Block => ({
  start: { type: 'tool_use', id: `toolu_${asked.count}`, name: tool, input: {} },
  deltas: [{ type: 'input_json_delta', partial_json: JSON.stringify(input) }],
  whole: { type: 'tool_use', id: `toolu_${asked.count}`, name: tool, input },
})

const error = (status: number, type: string, message: string, headers: Record<string, string> = {}) =>
  json(status, { type: 'error', error: { type, message }, request_id: 'req_1' }, headers)

/** Anthropic Messages. */
export const anthropic: Speech = {
  wire: 'anthropic',
  hears: (path) => path.startsWith('/v1/messages') || path.startsWith('/api/'),
  side(path) {
    if (path.startsWith('/v1/messages/count_tokens')) return json(200, { input_tokens: tokens.input })
    if (path.startsWith('/api/')) return json(404, {})
    return undefined
  },
  say(answer, asked) {
    if ('refusal' in answer) return reply(asked, [words(answer.refusal)], 'refusal')
    const spoken = answer.text === undefined ? [] : [words(answer.text)]
    if ('call' in answer)
      return reply(asked, [...spoken, call(asked, answer.call.tool, answer.call.input)], 'tool_use', answer.usage)
    const thought = answer.thought === undefined ? [] : [thinking(answer.thought)]
    return reply(asked, [...thought, ...spoken], 'end_turn', answer.usage)
  },
  half: (text, asked) =>
    event('message_start', { message: opening(asked, tokens) }) +
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }) +
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
  trouble: {
    rate: error(
      429,
      'rate_limit_error',
      "This request would exceed your account's rate limit. Please try again later.",
      { 'retry-after': '1' },
    ),
    plan: error(
      429,
      'rate_limit_error',
      "This request would exceed your account's rate limit. Please try again later.",
      {
        'anthropic-ratelimit-unified-status': 'rejected',
        'anthropic-ratelimit-unified-reset': `${planResets}`,
        'anthropic-ratelimit-unified-representative-claim': 'five_hour',
      },
    ),
    key: error(401, 'authentication_error', 'invalid x-api-key'),
    credit: error(
      400,
      'invalid_request_error',
      'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
    ),
    server: error(500, 'api_error', 'Internal server error'),
    overloaded: error(529, 'overloaded_error', 'Overloaded'),
    overflow: error(400, 'invalid_request_error', 'prompt is too long: 250000 tokens > 200000 maximum'),
  },
}
