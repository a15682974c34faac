import type { ModelRequest } from '../../core/work/model.ts'
import type { Effort } from '../provider.ts'
import type { Step } from '../paired.ts'
import type { Images, Target, Wire } from '../wire.ts'
import { pictures } from '../images.ts'
import { objectOf, paired } from '../paired.ts'
import { piecesOf } from '../pieces.ts'
import { geminiReader, ourMark } from './gemini-reader.ts'

/** Google Gemini, generateContent streamed. */
export const gemini: Wire = {
  options: ['includeThoughts', 'thinkingConfig'],
  framing: 'events',
  request: (request, to, images) => ({
    url: `${to.base}/models/${to.model}:streamGenerateContent?alt=sse`,
    headers: { 'content-type': 'application/json', ...(to.key ? { 'x-goog-api-key': to.key } : {}) },
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
    ...(Object.keys(config).length > 0 ? { generationConfig: config } : {}),
    ...(frame.system === '' ? {} : { systemInstruction: { parts: [{ text: frame.system }] } }),
    ...(frame.tools.length === 0
      ? {}
      : {
          tools: [
            {
              functionDeclarations: frame.tools.map(({ name, description, schema }) => ({
                name,
                description,
                parametersJsonSchema: schema,
              })),
            },
          ],
        }),
    contents: paired(messages).map((step) => content(step, to, images)),
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

/** In tokens; 128 is the least that all of them take. */
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
  const config = { ...(refused.has('includeThoughts') ? {} : { includeThoughts: true }), ...much }
  return Object.keys(config).length > 0 ? { thinkingConfig: config } : {}
}

function content(step: Step, to: Target, images: Images): object {
  const shown = (files: Parameters<typeof pictures>[0]) =>
    pictures(files, images, to.known.blind).map((picture) =>
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
  const pieces = piecesOf(step, to.name)
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

/** Gemini 3 refuses a first call without a signature; a call that another model made says so in Google's own words. */
const unsigned = { thoughtSignature: 'skip_thought_signature_validator' }

/** They never see an id that we made. */
const theirId = (id: string) => (id.startsWith(ourMark) ? {} : { id })
