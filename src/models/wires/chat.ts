import type { ModelRequest } from '../../core/work/model.ts'
import type { Effort } from '../provider.ts'
import type { Spoken, Step } from '../paired.ts'
import type { Piece } from '../pieces.ts'
import type { Images, Target, Wire } from '../wire.ts'
import { pictures } from '../images.ts'
import { objectOf, paired } from '../paired.ts'
import { piecesOf } from '../pieces.ts'
import { chatReader } from './chat-reader.ts'
import { functionsOf } from './functions.ts'

/** OpenAI Chat Completions, as everybody speaks it. */
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
    headers: { 'content-type': 'application/json', ...(to.key ? { authorization: `Bearer ${to.key}` } : {}) },
    body: JSON.stringify(body(request, to, images)),
  }),
  reader: chatReader,
}

function body({ frame, messages, schema }: ModelRequest, to: Target, images: Images): object {
  const { refused, provider } = to
  return {
    model: to.model,
    stream: true,
    ...(refused.has('stream_options') ? {} : { stream_options: { include_usage: true } }),
    ...effort(to),
    ...(provider.marks?.test(to.model) && !refused.has('cache_control')
      ? { cache_control: { type: 'ephemeral' } }
      : {}),
    ...(schema && !refused.has('response_format')
      ? { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } } }
      : {}),
    ...functionsOf(frame),
    messages: [
      ...(frame.system === '' ? [] : [{ role: 'system', content: frame.system }]),
      ...paired(messages).flatMap((step) => said(step, to, images)),
    ],
  }
}

/** Three steps are all that most servers know. */
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

function said(step: Step, to: Target, images: Images): object[] {
  const shown = (files: Parameters<typeof pictures>[0]) =>
    pictures(files, images, to.known.blind).map((picture) =>
      'missing' in picture
        ? { type: 'text', text: picture.missing }
        : { type: 'image_url', image_url: { url: `data:${picture.media};base64,${picture.data}` } },
    )
  if (step.role === 'user') {
    const files = shown(step.files)
    const words = step.text === '' ? [] : [{ type: 'text', text: step.text }]
    return [{ role: 'user', content: files.length === 0 ? step.text : [...words, ...files] }]
  }
  if (step.role === 'assistant') return [spoken(step, to)]
  // A result holds words alone: its images are shown after the results.
  const seen = step.results.flatMap(({ tool, files }) => {
    const pictures = shown(files)
    return pictures.length === 0 ? [] : [{ type: 'text', text: `What ${tool} showed:` }, ...pictures]
  })
  return [
    ...step.results.map(({ call, text }) => ({ role: 'tool', tool_call_id: call, content: text })),
    ...(seen.length === 0 ? [] : [{ role: 'user', content: seen }]),
  ]
}

function spoken(step: Spoken, to: Target): object {
  const pieces = piecesOf(step, to.name)
  const calls = pieces.flatMap((piece) => (piece.type === 'call' ? [piece.call] : []))
  return {
    role: 'assistant',
    content: step.text,
    // Thoughts go back under the name they came by, and only while their calls are worked on.
    ...(calls.length === 0 ? {} : thoughts(pieces, to)),
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map(({ id, tool, input }) => ({
            id,
            type: 'function',
            function: { name: tool, arguments: JSON.stringify(objectOf(input)) },
          })),
        }),
  }
}

function thoughts(pieces: readonly Piece[], { refused }: Target): object {
  const named = pieces.flatMap((piece) => (piece.type === 'item' ? Object.entries(piece.item) : []))
  return Object.fromEntries(named.filter(([name]) => !refused.has(name)))
}
