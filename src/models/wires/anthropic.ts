import type { ModelRequest } from '../../core/work/model.ts'
import type { Effort } from '../provider.ts'
import type { Step } from '../paired.ts'
import type { Images, Target, Wire } from '../wire.ts'
import { pictures } from '../images.ts'
import { objectOf, paired } from '../paired.ts'
import { piecesOf } from '../pieces.ts'
import { anthropicReader } from './anthropic-reader.ts'

/** More than most answers need, and less than every model of theirs may say. */
const longestAnswer = 32_000

const mark = { type: 'ephemeral' }

/** Anthropic Messages. */
export const anthropic: Wire = {
  options: ['cache_control', 'display', 'effort'],
  framing: 'events',
  request: (request, to, images) => ({
    url: `${to.base}/messages`,
    headers: {
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
      ...(to.key ? { 'x-api-key': to.key } : {}),
      ...(to.known.thinks === 'budget' && budgets[to.effort ?? 'none']
        ? { 'anthropic-beta': 'interleaved-thinking-2025-05-14' }
        : {}),
    },
    body: JSON.stringify(body(request, to, images)),
  }),
  reader: anthropicReader,
}

function body({ frame, messages, schema }: ModelRequest, to: Target, images: Images): object {
  const { refused } = to
  const output = { ...effort(to), ...(schema ? { format: { type: 'json_schema', schema } } : {}) }
  return {
    model: to.model,
    max_tokens: Math.min(longestAnswer, to.known.output ?? longestAnswer),
    stream: true,
    // The mark on the end of the conversation moves by itself: no byte of what was sent before changes for it.
    ...(refused.has('cache_control') ? {} : { cache_control: mark }),
    ...thinking(to),
    ...(Object.keys(output).length > 0 ? { output_config: output } : {}),
    ...(frame.tools.length === 0
      ? {}
      : { tools: frame.tools.map(({ name, description, schema }) => ({ name, description, input_schema: schema })) }),
    // Tools stand before the system prompt in their cache: one mark keeps both, whoever asks with them.
    ...(frame.system === '' ? {} : { system: [{ type: 'text', text: frame.system, cache_control: mark }] }),
    messages: paired(messages).map((step) => message(step, to, images)),
  }
}

/** In tokens, for the models that are told how long to think. */
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

function message(step: Step, to: Target, images: Images): object {
  const shown = (files: Parameters<typeof pictures>[0]) =>
    pictures(files, images, to.known.blind).map((picture) =>
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
        return { type: 'tool_result', tool_use_id: idOf(call), content, ...(ok ? {} : { is_error: true }) }
      }),
    }
  const content = piecesOf(step, to.name).flatMap((piece): object[] => {
    if (piece.type === 'item') return [piece.item]
    if (piece.type === 'call')
      return [{ type: 'tool_use', id: idOf(piece.call.id), name: piece.call.tool, input: objectOf(piece.call.input) }]
    // They refuse blocks of white space alone, their own among them.
    return piece.text.trim() === '' ? [] : [{ type: 'text', text: piece.text }]
  })
  return { role: 'assistant', content: content.length > 0 ? content : [{ type: 'text', text: '(nothing)' }] }
}

/** Another provider's ids may have letters that are not allowed here. */
const idOf = (id: string) => id.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64)
