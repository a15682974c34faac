import type { ModelRequest } from '../../core/work/model.ts'
import type { Effort } from '../../core/profile/effort.ts'
import type { MessageStep } from '../message-steps.ts'
import type { Images, Target, Wire, ReportedUsage, WireEvent, Reader } from '../http/wire-format.ts'
import { pictures } from './message-images.ts'
import { objectOf, messageSteps } from '../message-steps.ts'
import { answerPartsOf, AnswerParts } from '../answer-parts.ts'
import { randomName } from '../../base/id.ts'
import { jsonHeaders } from '../http/wire-format.ts'
import { defined } from '../../base/defined.ts'

/** Google Gemini's streamed generateContent format. */
export const gemini: Wire = {
  options: ['includeThoughts', 'thinkingConfig'],
  framing: 'events',
  request: (request, to, images) => ({
    url: `${to.base}/models/${to.model}:streamGenerateContent?alt=sse`,
    headers: jsonHeaders({ 'x-goog-api-key': to.key || undefined }),
    body: JSON.stringify(body(request, to, images)),
  }),
  reader: geminiReader,
}

function body({ frame, messages, schema }: ModelRequest, to: Target, images: Images): object {
  const config = {
    ...(schema ? { responseMimeType: 'application/json', responseJsonSchema: schema } : {}),
    ...thinking(to),
  }
  return {
    generationConfig: Object.keys(config).length > 0 ? config : undefined,
    systemInstruction: frame.system === '' ? undefined : { parts: [{ text: frame.system }] },
    // Older models accept either tools or a schema.
    tools:
      frame.tools.length === 0 || schema
        ? undefined
        : [
            {
              functionDeclarations: frame.tools.map(({ name, description, schema }) => ({
                name,
                description,
                parametersJsonSchema: schema,
              })),
            },
          ],
    contents: messageSteps(messages).map((step) => content(step, to, images)),
  }
}

const levels: Record<Effort, string> = {
  none: 'MINIMAL',
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
  max: 'HIGH',
}

/** Thinking budgets in tokens; 128 is the least that all models accept. */
const budgets: Record<Effort, number> = {
  none: 128,
  minimal: 512,
  low: 4096,
  medium: 8192,
  high: 16_384,
  xhigh: 24_576,
  max: 24_576,
}

function thinking({ known, effort, refused }: Target): object {
  if (!known.thinks || refused.has('thinkingConfig')) return {}
  const much = !effort
    ? {}
    : known.thinks === 'level'
      ? { thinkingLevel: levels[effort] }
      : { thinkingBudget: budgets[effort] }
  const config = defined({ includeThoughts: refused.has('includeThoughts') ? undefined : true, ...much })
  return Object.keys(config).length > 0 ? { thinkingConfig: config } : {}
}

function content(step: MessageStep, to: Target, images: Images): object {
  const shown = (files: Parameters<typeof pictures>[0]) =>
    pictures(files, images).map((picture) =>
      'missing' in picture
        ? { text: picture.missing }
        : { inlineData: { mimeType: picture.media, data: picture.data } },
    )
  if (step.role === 'user') {
    const files = shown(step.files)
    return { role: 'user', parts: [...(step.text === '' && files.length > 0 ? [] : [{ text: step.text }]), ...files] }
  }
  if (step.role === 'results')
    return {
      role: 'user',
      parts: step.results.flatMap(({ call, tool, ok, text, files }) => [
        {
          functionResponse: { ...theirId(call), name: tool, response: ok ? { output: text } : { error: text } },
        },
        ...shown(files),
      ]),
    }
  const pieces = answerPartsOf(step, to.name)
  const first = pieces.find(({ type }) => type === 'call')
  const parts = pieces.map((piece) => {
    if (piece.type === 'item') return piece.item
    if (piece.type === 'text') return { text: piece.text, ...piece.more }
    const { id, tool, input } = piece.call
    const sign = piece === first && to.known.thinks === 'level' ? unsigned : {}
    return { functionCall: { ...theirId(id), name: tool, args: objectOf(input) }, ...sign, ...piece.more }
  })
  return { role: 'model', parts: parts.length > 0 ? parts : [{ text: '' }] }
}

/** Gemini 3 refuses a first call without a signature. Google defines this value for calls of another model. */
const unsigned = { thoughtSignature: 'skip_thought_signature_validator' }

/** Ids that termaite made are not sent to Google. */
const theirId = (id: string) => (id.startsWith(ourMark) ? {} : { id })

/** The prefix of the ids that termaite makes for calls without one. */
const ourMark = 'gemini-'

const refusals = new Set([
  'SAFETY',
  'RECITATION',
  'LANGUAGE',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'IMAGE_SAFETY',
])

/** Parses Gemini's stream: whole parts, the last of which says why the model stopped. */
function geminiReader(to: Target): Reader {
  const pieces = new AnswerParts(to.name)
  let calls = 0
  let counted: ReportedUsage | undefined
  let finish: { reason: string; message?: string } | undefined

  function* part(one: any): Generator<WireEvent> {
    const sealed = one.thoughtSignature ? { thoughtSignature: one.thoughtSignature } : undefined
    if (one.functionCall) {
      calls++
      const id = one.functionCall.id ?? `${ourMark}${randomName()}`
      pieces.call(id, sealed)
      yield { type: 'call', id, tool: one.functionCall.name, input: one.functionCall.args ?? {} }
    } else if (typeof one.text === 'string' && one.thought) {
      if (sealed) pieces.item({ text: one.text, thought: true, ...sealed })
      if (one.text !== '') yield { type: 'thought', delta: one.text }
    } else if (typeof one.text === 'string') {
      pieces.text(one.text.length, sealed)
      if (one.text !== '') yield { type: 'text', delta: one.text }
    }
  }

  function* endAnswer({ reason, message }: { reason: string; message?: string }): Generator<WireEvent> {
    const known = reason === 'STOP' || reason === 'MAX_TOKENS' || refusals.has(reason)
    if (!known)
      return yield {
        type: 'trouble',
        trouble: { body: { error: { status: reason, message: message ?? `it stopped: ${reason}` } } },
      }
    if (counted) yield { type: 'counted', ...counted }
    const stop = refusals.has(reason) ? 'refused' : reason === 'MAX_TOKENS' ? 'length' : calls > 0 ? 'calls' : 'done'
    yield { type: 'end', stop, ...pieces.opaque() }
  }

  return {
    *read(data) {
      const chunk = JSON.parse(data)
      if (chunk.error) return yield { type: 'trouble', trouble: { body: chunk } }
      counted = count(chunk.usageMetadata) ?? counted
      const blocked = chunk.promptFeedback?.blockReason
      if (blocked) {
        yield { type: 'text', delta: `The prompt was blocked: ${blocked}.` }
        return yield { type: 'end', stop: 'refused' }
      }
      const candidate = chunk.candidates?.[0]
      for (const one of candidate?.content?.parts ?? []) yield* part(one)
      if (candidate?.finishReason) finish = { reason: candidate.finishReason, message: candidate.finishMessage }
    },
    // The usage may come after the reason, so the answer ends only with the stream.
    *close() {
      if (finish) yield* endAnswer(finish)
    },
    counted: () => counted,
  }
}

function count(usage: any): ReportedUsage | undefined {
  if (!usage) return undefined
  return {
    input: (usage.promptTokenCount ?? 0) + (usage.toolUsePromptTokenCount ?? 0),
    output: (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0),
    cached: usage.cachedContentTokenCount ?? 0,
  }
}
