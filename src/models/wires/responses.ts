import type { ModelRequest } from '../../core/work/model.ts'
import type { Piece } from '../pieces.ts'
import type { Step } from '../paired.ts'
import type { Images, Target, Wire } from '../wire.ts'
import { pictures } from '../images.ts'
import { objectOf, paired } from '../paired.ts'
import { piecesOf } from '../pieces.ts'
import { responsesReader } from './responses-reader.ts'

/** OpenAI Responses: nothing is kept there, so what it thought is sent back sealed. */
export const responses: Wire = {
  options: ['reasoning.summary', 'reasoning.encrypted_content', 'prompt_cache_key'],
  framing: 'events',
  request: (request, to, images) => ({
    url: `${to.base}/responses`,
    headers: { 'content-type': 'application/json', ...(to.key ? { authorization: `Bearer ${to.key}` } : {}) },
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
    // Requests with one key come to the machine that has their prefix.
    ...(session && !refused.has('prompt_cache_key') ? { prompt_cache_key: session.slice(0, 64) } : {}),
    ...(schema ? { text: { format: { type: 'json_schema', name: 'answer', strict: false, schema } } } : {}),
    ...(frame.tools.length === 0
      ? {}
      : {
          tools: frame.tools.map(({ name, description, schema }) => ({
            type: 'function',
            name,
            description,
            parameters: schema,
            strict: false,
          })),
        }),
    ...(frame.system === '' ? {} : { instructions: frame.system }),
    input: paired(messages).flatMap((step) => items(step, to, images)),
  }
}

function thinking({ effort, refused }: Target): object {
  const reasoning = {
    ...(effort ? { effort } : {}),
    ...(refused.has('reasoning.summary') || effort === 'none' ? {} : { summary: 'auto' }),
  }
  return {
    ...(Object.keys(reasoning).length > 0 ? { reasoning } : {}),
    ...(refused.has('reasoning.encrypted_content') ? {} : { include: ['reasoning.encrypted_content'] }),
  }
}

function items(step: Step, to: Target, images: Images): object[] {
  const shown = (files: Parameters<typeof pictures>[0]) =>
    pictures(files, images, to.known.blind).map((picture) =>
      'missing' in picture
        ? { type: 'input_text', text: picture.missing }
        : { type: 'input_image', image_url: `data:${picture.media};base64,${picture.data}` },
    )
  /** Words alone are a string: it says the same in fewer bytes. */
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
  return piecesOf(step, to.name).filter(leadsOn).map(item)
}

/** A thought is refused without what it led to, and that may not have been kept. */
function leadsOn(piece: Piece, at: number, all: Piece[]): boolean {
  return piece.type !== 'item' || all.slice(at + 1).some(({ type }) => type !== 'item')
}

function item(piece: Piece): object {
  if (piece.type === 'item') return piece.item
  if (piece.type === 'text')
    return { type: 'message', role: 'assistant', ...piece.more, content: [{ type: 'output_text', text: piece.text }] }
  const { id, tool, input } = piece.call
  return { type: 'function_call', call_id: id.slice(0, 64), name: tool, arguments: JSON.stringify(objectOf(input)) }
}
