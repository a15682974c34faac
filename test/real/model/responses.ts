import type { Asked, Speech, Tokens } from './script.ts'
import { json, stream, tokens } from './script.ts'
import { models, openaiTrouble } from './openai.ts'

type Item = Record<string, unknown> & { id: string; type: string }

const event = (type: string, data: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`

const response = (asked: Asked, more: object) => ({
  response: { id: `resp_${asked.count}`, object: 'response', model: asked.body.model, ...more },
})

const message = (asked: Asked, content: object): Item => ({
  id: `msg_${asked.count}`,
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [content],
})

const saying = (asked: Asked, text: string) => message(asked, { type: 'output_text', text, annotations: [] })

const thinking = (asked: Asked, text: string): Item => ({
  id: `rs_${asked.count}`,
  type: 'reasoning',
  summary: [{ type: 'summary_text', text }],
  encrypted_content: 'c2VhbGVk',
})

type Offered = { type: string; name?: string; tools?: { name: string }[] }

/** Codex puts the tools of each server into a namespace, and knows a call by both names. */
function named(asked: Asked, tool: string): { name: string; namespace?: string } {
  const offered = (asked.body.tools ?? []) as Offered[]
  const space = offered.find(({ type, tools }) => type === 'namespace' && tools?.some(({ name }) => name === tool))
  return { name: tool, ...(space?.name === undefined ? {} : { namespace: space.name }) }
}

const calling = (asked: Asked, tool: string, input: unknown): Item => ({
  id: `fc_${asked.count}`,
  type: 'function_call',
  call_id: `call_${asked.count}`,
  ...named(asked, tool),
  arguments: JSON.stringify(input),
  status: 'completed',
})

function whole(asked: Asked, output: Item[], used: Tokens = tokens): string {
  const usage = {
    input_tokens: used.input,
    input_tokens_details: { cached_tokens: used.cached },
    output_tokens: used.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: used.input + used.output,
  }
  return [
    event('response.created', response(asked, { status: 'in_progress', output: [] })),
    ...output.flatMap((item, output_index) => [
      event('response.output_item.added', { output_index, item: { ...item, content: [] } }),
      ...deltas(item, output_index),
      event('response.output_item.done', { output_index, item }),
    ]),
    event('response.completed', response(asked, { status: 'completed', output, usage })),
  ].join('')
}

function deltas(item: Item, output_index: number): string[] {
  const content = (item.content as { text?: string }[] | undefined)?.[0]?.text
  if (content === undefined) return []
  const at = { item_id: item.id, output_index, content_index: 0 }
  return content.split(/(?<=\s)/).map((delta) => event('response.output_text.delta', { ...at, delta }))
}

/** OpenAI Responses. */
export const responses: Speech = {
  wire: 'responses',
  hears: (path) => path.startsWith('/v1/responses') || path.startsWith('/v1/models'),
  side: (path) =>
    path.startsWith('/v1/models') ? models : path.startsWith('/v1/responses/') ? json(404, {}) : undefined,
  say(answer, asked) {
    if ('refusal' in answer) return stream(whole(asked, [message(asked, { type: 'refusal', refusal: answer.refusal })]))
    const spoken = answer.text === undefined ? [] : [saying(asked, answer.text)]
    if ('call' in answer)
      return stream(whole(asked, [...spoken, calling(asked, answer.call.tool, answer.call.input)], answer.usage))
    const thought = answer.thought === undefined ? [] : [thinking(asked, answer.thought)]
    return stream(whole(asked, [...thought, ...spoken], answer.usage))
  },
  half: (text, asked) =>
    event('response.created', response(asked, { status: 'in_progress', output: [] })) +
    event('response.output_item.added', { output_index: 0, item: { ...saying(asked, ''), content: [] } }) +
    event('response.output_text.delta', {
      item_id: `msg_${asked.count}`,
      output_index: 0,
      content_index: 0,
      delta: text,
    }),
  trouble: openaiTrouble,
}
