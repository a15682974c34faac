import type { ModelEvent } from '../../src/core/work/model.ts'
import { sse } from './tap.ts'

/** One rich answer in each wire format, as its provider streams it: thoughts, words of many bytes, two calls at once. */
export type Recorded = { model: string; stream: string; events: ModelEvent[] }

const path = 'src/größe.ts'
const words = ['Ich schaue 👀', ' nach…']
const two = [
  { tool: 'file_reader', input: { file_path: path, limit: 3 } },
  { tool: 'ls', input: {} },
]
const text = (delta: string): ModelEvent => ({ type: 'text', delta })
const thought = (delta: string): ModelEvent => ({ type: 'thought', delta })
const called = (ids: [string, string]): ModelEvent[] => two.map((call, at) => ({ type: 'call', id: ids[at]!, ...call }))

const anthropicEvent = (one: { type: string }) => `event: ${one.type}\n${sse(one)}`

export const anthropic: Recorded = {
  model: 'anthropic/claude-sonnet-4-6',
  stream: [
    {
      type: 'message_start',
      message: {
        id: 'msg_1',
        role: 'assistant',
        content: [],
        usage: { input_tokens: 100, cache_read_input_tokens: 1000, cache_creation_input_tokens: 50, output_tokens: 1 },
      },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
    { type: 'ping' },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Wo ist ' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'es?' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'c2lnbmVk' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 1, content_block: { type: 'redacted_thinking', data: 'c2VhbGVk' } },
    { type: 'content_block_stop', index: 1 },
    { type: 'content_block_start', index: 2, content_block: { type: 'text', text: '' } },
    ...words.map((word) => ({ type: 'content_block_delta', index: 2, delta: { type: 'text_delta', text: word } })),
    { type: 'content_block_stop', index: 2 },
    {
      type: 'content_block_start',
      index: 3,
      content_block: { type: 'tool_use', id: 'toolu_1', name: 'file_reader', input: {} },
    },
    ...['', '{"file_pa', `th": "${path}", `, '"limit": 3}'].map((partial_json) => ({
      type: 'content_block_delta',
      index: 3,
      delta: { type: 'input_json_delta', partial_json },
    })),
    { type: 'content_block_stop', index: 3 },
    {
      type: 'content_block_start',
      index: 4,
      content_block: { type: 'tool_use', id: 'toolu_2', name: 'ls', input: {} },
    },
    { type: 'content_block_stop', index: 4 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 40 } },
    { type: 'message_stop' },
  ]
    .map(anthropicEvent)
    .join(''),
  events: [
    thought('Wo ist '),
    thought('es?'),
    ...words.map(text),
    ...called(['toolu_1', 'toolu_2']),
    {
      type: 'usage',
      usage: { input: 1150, output: 40, cached: 1000, written: 50, cost: 0.0013875, source: 'reported' },
    },
    {
      type: 'end',
      stop: 'calls',
      opaque: {
        of: 'anthropic/claude-sonnet-4-6',
        pieces: [
          { item: { type: 'thinking', thinking: 'Wo ist es?', signature: 'c2lnbmVk' } },
          { item: { type: 'redacted_thinking', data: 'c2VhbGVk' } },
          { text: 19 },
          { call: 'toolu_1' },
          { call: 'toolu_2' },
        ],
      },
    },
  ],
}

const reasoning = {
  id: 'rs_1',
  type: 'reasoning',
  summary: [{ type: 'summary_text', text: 'Wo ist es?' }],
  encrypted_content: 'c2VhbGVk',
}

export const responses: Recorded = {
  model: 'openai/gpt-5.4',
  stream: [
    { type: 'response.created', response: { id: 'resp_1', status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item: { ...reasoning, summary: [] } },
    { type: 'response.reasoning_summary_part.added', output_index: 0, summary_index: 0 },
    { type: 'response.reasoning_summary_text.delta', output_index: 0, summary_index: 0, delta: 'Wo ist ' },
    { type: 'response.reasoning_summary_text.delta', output_index: 0, summary_index: 0, delta: 'es?' },
    { type: 'response.reasoning_summary_part.added', output_index: 0, summary_index: 1 },
    { type: 'response.reasoning_summary_text.delta', output_index: 0, summary_index: 1, delta: 'Hm.' },
    { type: 'response.output_item.done', output_index: 0, item: reasoning },
    ...words.map((delta) => ({ type: 'response.output_text.delta', output_index: 1, content_index: 0, delta })),
    {
      type: 'response.output_item.done',
      output_index: 1,
      item: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        phase: 'commentary',
        content: [{ type: 'output_text', text: words.join('') }],
      },
    },
    { type: 'response.function_call_arguments.delta', output_index: 2, delta: '{"file_pa' },
    {
      type: 'response.output_item.done',
      output_index: 2,
      item: {
        id: 'fc_1',
        type: 'function_call',
        call_id: 'call_1',
        name: 'file_reader',
        arguments: `{"file_path": "${path}", "limit": 3}`,
      },
    },
    {
      type: 'response.output_item.done',
      output_index: 3,
      item: { id: 'fc_2', type: 'function_call', call_id: 'call_2', name: 'ls', arguments: '' },
    },
    {
      type: 'response.completed',
      response: {
        id: 'resp_1',
        status: 'completed',
        usage: { input_tokens: 1200, input_tokens_details: { cached_tokens: 1000 }, output_tokens: 40 },
      },
    },
  ]
    .map(anthropicEvent)
    .join(''),
  events: [
    thought('Wo ist '),
    thought('es?'),
    thought('\n\n'),
    thought('Hm.'),
    ...words.map(text),
    ...called(['call_1', 'call_2']),
    { type: 'usage', usage: { input: 1200, output: 40, cached: 1000, cost: 0.00135, source: 'reported' } },
    {
      type: 'end',
      stop: 'calls',
      opaque: {
        of: 'openai/gpt-5.4',
        pieces: [
          { item: { type: 'reasoning', summary: reasoning.summary, encrypted_content: 'c2VhbGVk' } },
          { text: 19, more: { phase: 'commentary' } },
          { call: 'call_1' },
          { call: 'call_2' },
        ],
      },
    },
  ],
}

const delta = (delta: object, finish_reason: string | null = null) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason }],
})

export const chat: Recorded = {
  model: 'groq/openai/gpt-oss-120b',
  stream: sse(
    delta({ role: 'assistant', content: null }),
    delta({ reasoning: 'Wo ist ' }),
    delta({ reasoning: 'es?' }),
    ...words.map((content) => delta({ content })),
    delta({
      tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'file_reader', arguments: '' } }],
    }),
    delta({ tool_calls: [{ index: 1, id: 'call_2', type: 'function', function: { name: 'ls', arguments: '{}' } }] }),
    delta({ tool_calls: [{ index: 0, function: { arguments: `{"file_path": "${path}", ` } }] }),
    delta({ tool_calls: [{ index: 0, function: { arguments: '"limit": 3}' } }] }),
    delta({}, 'tool_calls'),
    {
      id: 'chatcmpl-1',
      choices: [],
      usage: { prompt_tokens: 1200, completion_tokens: 40, prompt_tokens_details: { cached_tokens: 1000 } },
    },
    '[DONE]',
  ),
  events: [
    thought('Wo ist '),
    thought('es?'),
    ...words.map(text),
    ...called(['call_1', 'call_2']),
    { type: 'usage', usage: { input: 1200, output: 40, cached: 1000, cost: 0.000129, source: 'reported' } },
    {
      type: 'end',
      stop: 'calls',
      opaque: {
        of: 'groq/openai/gpt-oss-120b',
        pieces: [{ text: 19 }, { item: { reasoning: 'Wo ist es?' } }, { call: 'call_1' }, { call: 'call_2' }],
      },
    },
  ],
}

const parts = (parts: object[], more: object = {}) => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, ...more }],
})

export const gemini: Recorded = {
  model: 'google/gemini-3.5-flash',
  stream: sse(
    parts([{ text: 'Wo ist es?', thought: true }]),
    ...words.map((text) => parts([{ text }])),
    parts([
      {
        functionCall: { id: 'fc_1', name: 'file_reader', args: { file_path: path, limit: 3 } },
        thoughtSignature: 'c2lnbmVk',
      },
      { functionCall: { id: 'fc_2', name: 'ls', args: {} } },
    ]),
    parts([{ text: '' }], { finishReason: 'STOP' }),
    {
      usageMetadata: {
        promptTokenCount: 1200,
        cachedContentTokenCount: 1000,
        candidatesTokenCount: 30,
        thoughtsTokenCount: 10,
      },
    },
  ).replaceAll('\n', '\r\n'),
  events: [
    thought('Wo ist es?'),
    ...words.map(text),
    ...called(['fc_1', 'fc_2']),
    { type: 'usage', usage: { input: 1200, output: 40, cached: 1000, cost: 0.00081, source: 'reported' } },
    {
      type: 'end',
      stop: 'calls',
      opaque: {
        of: 'google/gemini-3.5-flash',
        pieces: [{ text: 19 }, { call: 'fc_1', more: { thoughtSignature: 'c2lnbmVk' } }, { call: 'fc_2' }],
      },
    },
  ],
}

const line = (one: object) => `${JSON.stringify({ model: 'qwen3', ...one })}\n`

export const ollama: Recorded = {
  model: 'ollama/qwen3',
  stream: [
    { message: { role: 'assistant', content: '', thinking: 'Wo ist es?' }, done: false },
    ...words.map((content) => ({ message: { role: 'assistant', content }, done: false })),
    {
      message: {
        role: 'assistant',
        content: '',
        tool_calls: two.map(({ tool, input }, at) => ({
          id: `call_${at + 1}`,
          function: { index: at, name: tool, arguments: input },
        })),
      },
      done: false,
    },
    {
      message: { role: 'assistant', content: '' },
      done: true,
      done_reason: 'stop',
      prompt_eval_count: 1200,
      eval_count: 40,
    },
  ]
    .map(line)
    .join(''),
  events: [
    thought('Wo ist es?'),
    ...words.map(text),
    ...called(['call_1', 'call_2']),
    { type: 'usage', usage: { input: 1200, output: 40, source: 'reported' } },
    {
      type: 'end',
      stop: 'calls',
      opaque: {
        of: 'ollama/qwen3',
        pieces: [{ text: 19 }, { item: { thinking: 'Wo ist es?' } }, { call: 'call_1' }, { call: 'call_2' }],
      },
    },
  ],
}

export const recorded: Record<string, Recorded> = { anthropic, responses, chat, gemini, ollama }
