import type { CloudWay } from '../models/cloud-rig.ts'
import { cloudWays } from '../models/cloud-rig.ts'
import { sse } from '../models/tap.ts'

/** One answer of a model: its words, and the tools that it calls after them. */
export type Said = { words: string; calls: readonly { id: string; tool: string; input: object }[] }

/** The stream of one provider's answers, and the place in its requests of the words that the model said in the step that is under way. */
export type CutWire = {
  model: string
  base: string
  stream(said: Said): string | Buffer
  /** The cloud that the wire is carried to. */
  way?: CloudWay
  /** The words of the assistant since the last prompt or result; `results`: whether there are results at all. */
  begun(body: any): { words: string; results: boolean }
  /** The messages of a request: each request begins with those of the one before it. */
  messages(body: any): unknown[]
}

const pieces = (words: string) => words.match(/.{1,6}/gsu) ?? []
const halves = (input: object) => {
  const text = JSON.stringify(input)
  return [text.slice(0, 7), text.slice(7)].filter((part) => part !== '')
}

/** The words after the last message that is not the assistant's own and not a request to go on. */
function since(messages: readonly any[], isResult: (one: any) => boolean, wordsOf: (one: any) => string | undefined) {
  const last = messages.findLastIndex(isResult)
  return {
    words: messages
      .slice(last + 1)
      .map((one) => wordsOf(one) ?? '')
      .join(''),
    results: last >= 0,
  }
}

const block = (one: { type: string }) => `event: ${one.type}\n${sse(one)}`

const anthropicWire = (model: string, thinks: boolean): CutWire => ({
  model,
  base: '/v1',
  stream({ words, calls }) {
    const open = (index: number, content_block: object) => ({ type: 'content_block_start', index, content_block })
    const grow = (index: number, delta: object) => ({ type: 'content_block_delta', index, delta })
    const close = (index: number) => ({ type: 'content_block_stop', index })
    return [
      { type: 'message_start', message: { id: 'msg_1', usage: { input_tokens: 100, output_tokens: 1 } } },
      ...(thinks
        ? [
            open(0, { type: 'thinking', thinking: '', signature: '' }),
            grow(0, { type: 'thinking_delta', thinking: 'Wo ist es?' }),
            grow(0, { type: 'signature_delta', signature: 'c2lnbmVk' }),
            close(0),
          ]
        : []),
      ...(words === ''
        ? []
        : [
            open(1, { type: 'text', text: '' }),
            ...pieces(words).map((text) => grow(1, { type: 'text_delta', text })),
            close(1),
          ]),
      ...calls.flatMap(({ id, tool, input }, at) => [
        open(2 + at, { type: 'tool_use', id, name: tool, input: {} }),
        ...halves(input).map((partial_json) => grow(2 + at, { type: 'input_json_delta', partial_json })),
        close(2 + at),
      ]),
      {
        type: 'message_delta',
        delta: { stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn' },
        usage: { output_tokens: 40 },
      },
      { type: 'message_stop' },
    ]
      .map(block)
      .join('')
  },
  begun: ({ messages }) =>
    since(
      messages,
      ({ content }) => Array.isArray(content) && content[0]?.type === 'tool_result',
      ({ role, content }) => (role === 'assistant' ? content.map((one: any) => one.text ?? '').join('') : undefined),
    ),
  messages: ({ messages }) => messages,
})

const chatWire: CutWire = {
  model: 'groq/openai/gpt-oss-120b',
  base: '/v1',
  stream({ words, calls }) {
    const chunk = (delta: object, finish_reason: string | null = null) => ({
      choices: [{ index: 0, delta, finish_reason }],
    })
    return sse(
      chunk({ reasoning: 'Wo ist es?' }),
      ...pieces(words).map((content) => chunk({ content })),
      ...calls.flatMap(({ id, tool, input }, index) => [
        chunk({ tool_calls: [{ index, id, type: 'function', function: { name: tool, arguments: '' } }] }),
        ...halves(input).map((part) => chunk({ tool_calls: [{ index, function: { arguments: part } }] })),
      ]),
      chunk({}, calls.length > 0 ? 'tool_calls' : 'stop'),
      { choices: [], usage: { prompt_tokens: 100, completion_tokens: 40 } },
      '[DONE]',
    )
  },
  begun: ({ messages }) =>
    since(
      messages,
      ({ role }) => role === 'tool',
      ({ role, content }) => (role === 'assistant' ? content : undefined),
    ),
  messages: ({ messages }) => messages,
}

const responsesWire: CutWire = {
  model: 'openai/gpt-5.4',
  base: '/v1',
  stream({ words, calls }) {
    const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'c2VhbGVk' }
    const content = [{ type: 'output_text', text: words }]
    const done = (output_index: number, item: object) => ({ type: 'response.output_item.done', output_index, item })
    return [
      { type: 'response.created', response: { id: 'resp_1' } },
      done(0, reasoning),
      ...pieces(words).map((delta) => ({ type: 'response.output_text.delta', output_index: 1, delta })),
      ...(words === '' ? [] : [done(1, { type: 'message', role: 'assistant', content })]),
      ...calls.map(({ id, tool, input }, at) =>
        done(2 + at, { type: 'function_call', call_id: id, name: tool, arguments: JSON.stringify(input) }),
      ),
      { type: 'response.completed', response: { usage: { input_tokens: 100, output_tokens: 40 } } },
    ]
      .map(block)
      .join('')
  },
  begun: ({ input }) =>
    since(
      input,
      ({ type }) => type === 'function_call_output',
      ({ role, content }) => (role === 'assistant' ? content.map((one: any) => one.text).join('') : undefined),
    ),
  messages: ({ input }) => input,
}

const geminiWire: CutWire = {
  model: 'google/gemini-3.5-flash',
  base: '/v1beta',
  stream({ words, calls }) {
    const chunk = (parts: object[], finishReason?: string) => ({
      candidates: [{ content: { role: 'model', parts }, finishReason }],
    })
    return sse(
      chunk([{ text: 'Wo ist es?', thought: true }]),
      ...pieces(words).map((text) => chunk([{ text }])),
      ...calls.map(({ id, tool, input }, at) =>
        chunk([{ functionCall: { id, name: tool, args: input }, thoughtSignature: at === 0 ? 'c2VhbGVk' : undefined }]),
      ),
      chunk([], 'STOP'),
      { usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 40 } },
    )
  },
  begun: ({ contents }) =>
    since(
      contents,
      ({ parts }) => parts[0]?.functionResponse !== undefined,
      ({ role, parts }) =>
        role === 'model' ? parts.map((one: any) => (one.thought ? '' : (one.text ?? ''))).join('') : undefined,
    ),
  messages: ({ contents }) => contents,
}

const ollamaWire: CutWire = {
  model: 'ollama/any',
  base: '/v1',
  stream({ words, calls }) {
    const line = (message: object, more: object = { done: false }) => `${JSON.stringify({ message, ...more })}\n`
    const done = { done: true, done_reason: 'stop', prompt_eval_count: 100, eval_count: 40 }
    return [
      line({ role: 'assistant', thinking: 'Wo ist es?' }),
      ...pieces(words).map((content) => line({ role: 'assistant', content })),
      ...calls.map(({ id, tool, input }) =>
        line({ role: 'assistant', content: '', tool_calls: [{ id, function: { name: tool, arguments: input } }] }),
      ),
      line({}, done),
    ].join('')
  },
  begun: chatWire.begun,
  messages: ({ messages }) => messages,
}

/** A wire that is carried to a cloud: the mark for the cache moves with the last message, and is no part of what is said. */
function carried(wire: CutWire, way: CloudWay): CutWire {
  const unmarked = (message: any) =>
    way.wire !== 'anthropic' || !Array.isArray(message.content)
      ? message
      : { ...message, content: message.content.map(({ cache_control: _mark, ...block }: any) => block) }
  const whole = (message: any) =>
    typeof message.content === 'string' ? { ...message, content: [{ type: 'text', text: message.content }] } : message
  return {
    ...wire,
    way,
    model: way.model,
    base: '',
    stream: (said) => way.framed?.(wire.stream(said).toString()) ?? wire.stream(said),
    messages: (body) => wire.messages(body).map((one) => unmarked(way.wire === 'anthropic' ? whole(one) : one)),
  }
}

const claude = anthropicWire('anthropic/claude-sonnet-4-6', true)

/** Every wire; Anthropic's twice, with a model that continues its own message and with one that has to be asked. */
export const cutWires: Record<string, CutWire> = {
  anthropic: claude,
  'anthropic, continued': anthropicWire('anthropic/claude-sonnet-4-5', false),
  responses: responsesWire,
  chat: chatWire,
  gemini: geminiWire,
  ollama: ollamaWire,
  'Bedrock, Claude': carried(claude, cloudWays['Bedrock, Claude, signed']!),
  'Bedrock, an open model': carried(chatWire, cloudWays['Bedrock, an open model, by an API key']!),
  'Vertex, Claude': carried(claude, cloudWays['Vertex, Claude']!),
  'Vertex, Gemini': carried(geminiWire, cloudWays['Vertex, Gemini']!),
  Azure: carried(responsesWire, cloudWays['Azure, by a key']!),
}
