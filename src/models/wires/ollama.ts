import type { Ref } from '../../core/talk/store.ts'
import type { ModelRequest } from '../../core/work/model.ts'
import type { MessageStep } from '../message-steps.ts'
import type { Images, Target, Trouble, Wire, ReportedUsage, WireEvent, Reader } from '../http/wire-format.ts'
import { estimateTokens } from '../../core/talk/tokens.ts'
import { isImage, pictures } from './message-images.ts'
import { objectOf, messageSteps } from '../message-steps.ts'
import { answerPartsOf, AnswerParts } from '../answer-parts.ts'
import { bearer, functionsOf, jsonHeaders } from '../http/wire-format.ts'
import { randomName } from '../../base/id.ts'

const overflow = (message: string): Trouble => ({ status: 413, body: { error: { message } } })

/**
 * Ollama's own format. Its OpenAI-compatible format cannot request a context window, and without one Ollama silently drops the oldest
 * messages.
 */
export const ollama: Wire = {
  options: ['think'],
  framing: 'lines',
  request(request, to, images) {
    return {
      url: `${root(to.base)}/api/chat`,
      headers: jsonHeaders({ authorization: bearer(to.key) }),
      body: JSON.stringify(body(request, to, images)),
    }
  },
  reader: ollamaReader,
  // A request that does not fit is not sent: older servers would silently drop parts of it.
  fits({ body }, to) {
    const tokens = body.includes('"images":[') ? 0 : estimateTokens(body)
    return tokens <= to.window
      ? undefined
      : overflow(`about ${tokens} tokens do not fit into a context of ${to.window}`)
  },
  async prepare(to, aside) {
    const shown = await aside(`${root(to.base)}/api/show`, { model: to.model })
    if (!shown) return undefined
    if (shown.status === 404)
      return { status: 404, body: { error: { message: `get it with \`ollama pull ${to.model}\`` } } }
    const length = Object.entries(shown.body?.model_info ?? {}).find(([key]) => key.endsWith('.context_length'))?.[1]
    if (typeof length === 'number') to.window = Math.min(to.window, length)
    const can: unknown = shown.body?.capabilities
    if (Array.isArray(can)) {
      to.known = {
        ...to.known,
        ...(can.includes('thinking') && { thinks: shown.body.details?.family === 'gptoss' ? 'level' : 'effort' }),
        ...(!can.includes('vision') && { blind: true }),
      }
    }
    return undefined
  },
  async verify(to, { input, output }, aside) {
    const loaded = await aside(`${root(to.base)}/api/ps`)
    const models: { name?: string; model?: string; context_length?: number }[] = loaded?.body?.models ?? []
    const own = models.find(({ name, model }) =>
      [name, model].some((one) => one === to.model || one === `${to.model}:latest`),
    )
    if (own?.context_length) to.window = Math.min(to.window, own.context_length)
    if (input < to.window && input + output < to.window) return undefined
    return overflow(`${input} tokens filled the whole context of ${to.window}; Ollama leaves out what does not fit`)
  },
}

/** Returns the address without its /v1, below which Ollama's own format is. */
export const root = (base: string) => base.replace(/\/v1$/, '')

function body({ frame, messages, schema }: ModelRequest, to: Target, images: Images): object {
  return {
    model: to.model,
    stream: true,
    // Newer servers report an overflow instead of dropping messages.
    truncate: false,
    shift: false,
    options: { num_ctx: to.window },
    ...thinking(to),
    format: schema,
    // A format applies to every answer, so it would forbid tool calls.
    ...(schema ? {} : functionsOf(frame)),
    messages: [
      ...(frame.system === '' ? [] : [{ role: 'system', content: frame.system }]),
      ...messageSteps(messages).flatMap((step) => messagesOf(step, to, images)),
    ],
  }
}

/** Some models accept a thinking level by name, others only on or off. */
function thinking({ known, effort, refused }: Target): object {
  if (!effort || !known.thinks || refused.has('think')) return {}
  if (known.thinks !== 'level') return { think: effort !== 'none' }
  return { think: effort === 'medium' ? 'medium' : ['high', 'xhigh', 'max'].includes(effort) ? 'high' : 'low' }
}

function messagesOf(step: MessageStep, to: Target, images: Images): object[] {
  if (step.role === 'user') return [{ role: 'user', ...textWithImages(step.text, step.files, images) }]
  if (step.role === 'results') {
    const files = step.results.flatMap((result) => result.files ?? [])
    return [
      ...step.results.map(({ call, tool, text }) => ({
        role: 'tool',
        content: text,
        tool_name: tool,
        tool_call_id: call,
      })),
      ...(files.some(isImage) ? [{ role: 'user', ...textWithImages('What the tools showed:', files, images) }] : []),
    ]
  }
  const pieces = answerPartsOf(step, to.name)
  const calls = pieces.flatMap((piece) => (piece.type === 'call' ? [piece.call] : []))
  const thought = pieces.find((piece) => piece.type === 'item')
  return [
    {
      role: 'assistant',
      content: step.text,
      ...(calls.length > 0 && thought ? thought.item : {}),
      tool_calls:
        calls.length === 0
          ? undefined
          : calls.map(({ id, tool, input }) => ({ id, function: { name: tool, arguments: objectOf(input) } })),
    },
  ]
}

/** A text with its images, followed by the sentences about images that the model cannot see. */
function textWithImages(
  text: string,
  files: readonly Ref[] | undefined,
  images: Images,
): { content: string; images?: string[] } {
  const all = pictures(files, images)
  const bodies = all.flatMap((one) => ('data' in one ? [one.data] : []))
  const content = [text, ...all.flatMap((one) => ('missing' in one ? [one.missing] : []))].filter((part) => part !== '')
  return { content: content.join('\n'), ...(bodies.length > 0 ? { images: bodies } : {}) }
}

/** Parses Ollama's stream: a line of JSON for each part of the message, the last one with the usage. */
function ollamaReader(to: Target): Reader {
  const pieces = new AnswerParts(to.name)
  let thought = ''
  let calls = 0

  function* readMessage(message: any): Generator<WireEvent> {
    if (message.thinking) {
      thought += message.thinking
      yield { type: 'thought', delta: message.thinking }
    }
    if (message.content) {
      pieces.text(message.content.length)
      yield { type: 'text', delta: message.content }
    }
    for (const call of message.tool_calls ?? []) {
      const id = call.id || `call_${randomName()}`
      if (calls++ === 0 && thought) pieces.item({ thinking: thought })
      pieces.call(id)
      yield { type: 'call', id, tool: call.function.name, input: call.function.arguments ?? {} }
    }
  }

  return {
    *read(data) {
      const chunk = JSON.parse(data)
      if (chunk.error) return yield { type: 'trouble', trouble: { body: chunk } }
      if (chunk.message) yield* readMessage(chunk.message)
      if (!chunk.done) return
      yield { type: 'counted', ...count(chunk) }
      const stop = chunk.done_reason === 'length' ? 'length' : calls > 0 ? 'calls' : 'done'
      yield { type: 'end', stop, ...pieces.opaque() }
    },
    *close() {},
  }
}

const count = (chunk: any): ReportedUsage => ({
  input: chunk.prompt_eval_count ?? 0,
  output: chunk.eval_count ?? 0,
  cached: 0,
})
