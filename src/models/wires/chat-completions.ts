import type { ModelRequest } from '../../core/work/model.ts'
import type { Effort } from '../../core/profile/effort.ts'
import type { AssistantMessage, MessageStep } from '../message-steps.ts'
import type { AnswerPart } from '../answer-parts.ts'
import type { Images, Target, Wire, ReportedUsage, WireEvent, Reader } from '../http/wire-format.ts'
import { pictures } from './message-images.ts'
import { objectOf, messageSteps, inputOf } from '../message-steps.ts'
import { answerPartsOf, AnswerParts } from '../answer-parts.ts'
import { bearer, functionsOf, jsonHeaders } from '../http/wire-format.ts'
import { randomName } from '../../base/id.ts'

/** OpenAI's Chat Completions format, which most other servers use too. */
export const chat: Wire = {
  options: [
    'stream_options',
    'reasoning_effort',
    'cache_control',
    'response_format',
    'reasoning_content',
    'reasoning_details',
    'reasoning',
  ],
  framing: 'events',
  request: (request, to, images) => ({
    url: `${to.base}/chat/completions`,
    headers: jsonHeaders({ authorization: bearer(to.key) }),
    body: JSON.stringify(body(request, to, images)),
  }),
  reader: chatReader,
}

function body({ frame, messages, schema }: ModelRequest, to: Target, images: Images): object {
  const { refused, provider } = to
  return {
    model: to.model,
    stream: true,
    stream_options: refused.has('stream_options') ? undefined : { include_usage: true },
    ...effort(to),
    cache_control: provider.marks?.test(to.model) && !refused.has('cache_control') ? { type: 'ephemeral' } : undefined,
    response_format:
      schema && !refused.has('response_format')
        ? { type: 'json_schema', json_schema: { name: 'answer', schema } }
        : undefined,
    ...functionsOf(frame),
    messages: [
      ...(frame.system === '' ? [] : [{ role: 'system', content: frame.system }]),
      ...messageSteps(messages).flatMap((step) => messagesOf(step, to, images)),
    ],
  }
}

/** Most servers only know three levels of effort. */
const three: Record<Effort, string> = {
  none: 'low',
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'high',
}

function effort({ provider, effort, refused }: Target): object {
  if (!effort) return {}
  if (provider.effort === 'nested') return refused.has('reasoning') ? {} : { reasoning: { effort } }
  return provider.effort && !refused.has('reasoning_effort') ? { reasoning_effort: three[effort] } : {}
}

function messagesOf(step: MessageStep, to: Target, images: Images): object[] {
  const shown = (files: Parameters<typeof pictures>[0]) =>
    pictures(files, images).map((picture) =>
      'missing' in picture
        ? { type: 'text', text: picture.missing }
        : { type: 'image_url', image_url: { url: `data:${picture.media};base64,${picture.data}` } },
    )
  if (step.role === 'user') {
    const files = shown(step.files)
    const words = step.text === '' ? [] : [{ type: 'text', text: step.text }]
    return [{ role: 'user', content: files.length === 0 ? step.text : [...words, ...files] }]
  }
  if (step.role === 'assistant') return [assistantMessage(step, to)]
  // A result can only contain text: its images follow in a message after the results.
  const seen = step.results.flatMap(({ tool, files }) => {
    const pictures = shown(files)
    return pictures.length === 0 ? [] : [{ type: 'text', text: `What ${tool} showed:` }, ...pictures]
  })
  return [
    ...step.results.map(({ call, text }) => ({ role: 'tool', tool_call_id: call, content: text })),
    ...(seen.length === 0 ? [] : [{ role: 'user', content: seen }]),
  ]
}

function assistantMessage(step: AssistantMessage, to: Target): object {
  const pieces = answerPartsOf(step, to.name)
  const calls = pieces.flatMap((piece) => (piece.type === 'call' ? [piece.call] : []))
  return {
    role: 'assistant',
    content: step.text,
    // Thoughts are sent back under their original field name, and only with the calls to which they led.
    ...(calls.length === 0 ? {} : thoughts(pieces, to)),
    tool_calls:
      calls.length === 0
        ? undefined
        : calls.map(({ id, tool, input }) => ({
            id,
            type: 'function',
            function: { name: tool, arguments: JSON.stringify(objectOf(input)) },
          })),
  }
}

function thoughts(pieces: readonly AnswerPart[], { refused }: Target): object {
  const named = pieces.flatMap((piece) => (piece.type === 'item' ? Object.entries(piece.item) : []))
  return Object.fromEntries(named.filter(([name]) => !refused.has(name)))
}

type Call = { id: string; name: string; written: string }
type Detail = Record<string, unknown> & { type?: string; index?: number }

const stops = { length: 'length', content_filter: 'refused' } as const

/** The fields in which servers send a model's thoughts. */
const thoughtFields = ['reasoning_content', 'reasoning', 'reasoning_text'] as const

/** Parses a chat server's stream: parts of one message, whose calls are only complete at the end. */
function chatReader(to: Target): Reader {
  const pieces = new AnswerParts(to.name)
  const calls: (Call & { index: number | undefined })[] = []
  const details: Detail[] = []
  let thought: { name: string; text: string } | undefined
  let counted: ReportedUsage | undefined
  let finish: string | undefined
  let refused = false

  function* readDelta(delta: any): Generator<WireEvent> {
    const name = thoughtFields.find((one) => typeof delta[one] === 'string' && delta[one] !== '')
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

  function* endAnswer(): Generator<WireEvent> {
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
      if (data === '[DONE]') return yield* endAnswer()
      const chunk = JSON.parse(data)
      if (chunk.error) return yield { type: 'trouble', trouble: { body: chunk } }
      counted = count(chunk.usage ?? chunk.x_groq?.usage) ?? counted
      const choice = chunk.choices?.[0]
      if (!choice) return
      if (choice.error || choice.finish_reason === 'error')
        return yield {
          type: 'trouble',
          trouble: { body: { error: choice.error ?? 'the model stopped in the middle of its answer' } },
        }
      if (choice.delta) yield* readDelta(choice.delta)
      finish = choice.finish_reason ?? finish
    },
    *close() {
      // Not every server sends [DONE].
      if (finish !== undefined) yield* endAnswer()
    },
    counted: () => counted,
  }
}

/** Finds the call to which a part belongs, by its index. Servers without an index send calls whole, or begin each with its id. */
function grow(calls: (Call & { index: number | undefined })[], part: any): void {
  const { index, id, function: { name, arguments: written } = {} as any } = part
  const last = calls.findLast((call) => index === undefined || call.index === index)
  const same = last && (!id || last.id === id) ? last : undefined
  const call = same ?? { index, id: id || `call_${randomName()}`, name: '', written: '' }
  if (!same) calls.push(call)
  if (name && call.name === '') call.name = name
  call.written += typeof written === 'object' && written !== null ? JSON.stringify(written) : (written ?? '')
}

/** Joins thoughts in the form that OpenRouter sends: parts with the same index belong together. */
function join(details: Detail[], part: Detail): void {
  const last = details.at(-1)
  if (!last || last.type !== part.type || last.index !== part.index) {
    details.push({ ...part })
    return
  }
  for (const [key, value] of Object.entries(part)) {
    const grows = (key === 'text' || key === 'summary' || key === 'data') && typeof last[key] === 'string'
    if (grows) last[key] = `${last[key]}${value ?? ''}`
    else if (value !== null && value !== undefined) last[key] = value
  }
}

function count(usage: any): ReportedUsage | undefined {
  if (!usage) return undefined
  return {
    input: usage.prompt_tokens ?? 0,
    output: usage.completion_tokens ?? 0,
    cached: usage.prompt_tokens_details?.cached_tokens ?? 0,
    cost: typeof usage.cost === 'number' ? usage.cost : undefined,
  }
}
