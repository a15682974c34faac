import type { ModelRequest } from '../../core/work/model.ts'
import type { AnswerPart } from '../answer-parts.ts'
import type { MessageStep } from '../message-steps.ts'
import type { Images, ReportedUsage, Target, Wire, WireEvent, Reader } from '../http/wire-format.ts'
import { pictures } from './message-images.ts'
import { objectOf, messageSteps, inputOf } from '../message-steps.ts'
import { answerPartsOf, AnswerParts } from '../answer-parts.ts'
import { bearer, jsonHeaders } from '../http/wire-format.ts'
import { defined } from '../../base/defined.ts'

/** OpenAI's Responses format. OpenAI stores nothing, so the model's thoughts are sent back encrypted. */
export const responses: Wire = {
  options: ['reasoning.summary', 'reasoning.encrypted_content', 'prompt_cache_key'],
  framing: 'events',
  request: (request, to, images) => ({
    url: `${to.base}/responses`,
    headers: jsonHeaders({ authorization: bearer(to.key) }),
    body: JSON.stringify(body(request, to, images)),
  }),
  reader: responsesReader,
}

function body({ frame, messages, schema }: ModelRequest, to: Target, images: Images): object {
  const { refused, session } = to
  return {
    model: to.model,
    stream: true,
    store: false,
    ...(to.known.thinks ? thinking(to) : {}),
    // OpenAI routes requests with the same key to the machine that has their prefix in its cache.
    prompt_cache_key: session && !refused.has('prompt_cache_key') ? session.slice(0, 64) : undefined,
    text: schema ? { format: { type: 'json_schema', name: 'answer', strict: false, schema } } : undefined,
    tools:
      frame.tools.length === 0
        ? undefined
        : frame.tools.map(({ name, description, schema }) => ({
            type: 'function',
            name,
            description,
            parameters: schema,
            strict: false,
          })),
    instructions: frame.system === '' ? undefined : frame.system,
    input: messageSteps(messages).flatMap((step) => items(step, to, images)),
  }
}

function thinking({ effort, refused }: Target): object {
  const reasoning = defined({
    effort,
    summary: refused.has('reasoning.summary') || effort === 'none' ? undefined : 'auto',
  })
  return {
    reasoning: Object.keys(reasoning).length > 0 ? reasoning : undefined,
    include: refused.has('reasoning.encrypted_content') ? undefined : ['reasoning.encrypted_content'],
  }
}

function items(step: MessageStep, to: Target, images: Images): object[] {
  const shown = (files: Parameters<typeof pictures>[0]) =>
    pictures(files, images).map((picture) =>
      'missing' in picture
        ? { type: 'input_text', text: picture.missing }
        : { type: 'input_image', image_url: `data:${picture.media};base64,${picture.data}` },
    )
  /** Text without images is sent as a string, which takes fewer bytes. */
  const content = (text: string, files: Parameters<typeof pictures>[0]) => {
    const seen = shown(files)
    return seen.length === 0 ? text : [...(text === '' ? [] : [{ type: 'input_text', text }]), ...seen]
  }
  if (step.role === 'user') return [{ role: 'user', content: content(step.text, step.files) }]
  if (step.role === 'results')
    return step.results.map(({ call, text, files }) => ({
      type: 'function_call_output',
      call_id: call.slice(0, 64),
      output: content(text, files),
    }))
  return answerPartsOf(step, to.name).filter(leadsOn).map(item)
}

/** Leaves out a thought whose result was not stored: OpenAI refuses a thought without its result. */
function leadsOn(piece: AnswerPart, at: number, all: AnswerPart[]): boolean {
  return piece.type !== 'item' || all.slice(at + 1).some(({ type }) => type !== 'item')
}

function item(piece: AnswerPart): object {
  if (piece.type === 'item') return piece.item
  if (piece.type === 'text')
    return { type: 'message', role: 'assistant', ...piece.more, content: [{ type: 'output_text', text: piece.text }] }
  const { id, tool, input } = piece.call
  return { type: 'function_call', call_id: id.slice(0, 64), name: tool, arguments: JSON.stringify(objectOf(input)) }
}

/** Parses OpenAI's stream: items that grow and are repeated whole once they are done. */
function responsesReader(to: Target): Reader {
  const pieces = new AnswerParts(to.name)
  /** How much of each item's text was already yielded. */
  const streamed = new Map<number, number>()
  let calls = 0
  let refused = false
  let counted: ReportedUsage | undefined

  function* streamText(index: number, delta: string): Generator<WireEvent> {
    streamed.set(index, (streamed.get(index) ?? 0) + delta.length)
    yield { type: 'text', delta }
  }

  function* finishItem(item: any, index: number): Generator<WireEvent> {
    if (item.type === 'function_call') {
      calls++
      pieces.call(item.call_id)
      yield { type: 'call', id: item.call_id, tool: item.name, input: inputOf(item.arguments ?? '') }
    } else if (item.type === 'reasoning') {
      const { id: _id, status: _status, ...sealed } = item
      // A thought without its encrypted content is of no use to the next request.
      if (sealed.encrypted_content) pieces.item(sealed)
    } else if (item.type === 'message') {
      const parts: { type: string; text?: string; refusal?: string }[] = item.content ?? []
      const text = parts.map((part) => part.text ?? part.refusal ?? '').join('')
      refused ||= parts.some(({ type }) => type === 'refusal')
      const rest = text.slice(streamed.get(index) ?? 0)
      if (rest !== '') yield* streamText(index, rest)
      pieces.text(streamed.get(index) ?? 0, item.phase ? { phase: item.phase } : undefined)
    }
  }

  function* endAnswer(response: any, stop: 'done' | 'length' | 'refused'): Generator<WireEvent> {
    counted = count(response.usage)
    if (counted) yield { type: 'counted', ...counted }
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
          yield* streamText(event.output_index, event.delta)
          break
        case 'response.reasoning_summary_text.delta':
        case 'response.reasoning_text.delta':
          yield { type: 'thought', delta: event.delta }
          break
        case 'response.reasoning_summary_part.added':
          if (event.summary_index > 0) yield { type: 'thought', delta: '\n\n' }
          break
        case 'response.output_item.done':
          yield* finishItem(event.item, event.output_index)
          break
        case 'response.completed':
          yield* endAnswer(event.response, 'done')
          break
        case 'response.incomplete':
          yield* endAnswer(
            event.response,
            event.response.incomplete_details?.reason === 'content_filter' ? 'refused' : 'length',
          )
          break
        case 'response.failed':
          counted = count(event.response?.usage)
          yield { type: 'trouble', trouble: { body: event.response } }
          break
        case 'error':
          yield { type: 'trouble', trouble: { body: event } }
      }
    },
    *close() {},
    counted: () => counted,
  }
}

function count(usage: any): ReportedUsage | undefined {
  if (!usage) return undefined
  const { input_tokens: input = 0, output_tokens: output = 0, input_tokens_details: details } = usage
  const written: number | undefined = details?.cache_write_tokens || undefined
  return defined({ input, output, cached: details?.cached_tokens ?? 0, written })
}
