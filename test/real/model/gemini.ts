import type { Asked, Reply, Speech, Tokens } from './script.ts'
import { json, stream, tokens } from './script.ts'

const data = (body: object) => `data: ${JSON.stringify(body)}\r\n\r\n`

const part = (parts: object[], finishReason?: string, used?: Tokens) => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, ...(finishReason ? { finishReason } : {}) }],
  ...(used
    ? {
        usageMetadata: {
          promptTokenCount: used.input,
          cachedContentTokenCount: used.cached,
          candidatesTokenCount: used.output,
          totalTokenCount: used.input + used.output,
        },
      }
    : {}),
})

/** The same parts streamed or whole, as the path wants it. */
function reply(asked: Asked, parts: object[], finish: string, used: Tokens = tokens): Reply {
  if (!asked.path.includes(':streamGenerateContent')) return json(200, part(parts, finish, used))
  const early = parts.slice(0, -1).map((one) => data(part([one])))
  return stream([...early, data(part(parts.slice(-1), finish, used))].join(''))
}

const google = (type: string, more: object) => ({ '@type': `type.googleapis.com/google.rpc.${type}`, ...more })

const error = (code: number, status: string, message: string, details: object[] = []) =>
  json(code, { error: { code, message, status, ...(details.length ? { details } : {}) } })

/** Gemini generateContent and streamGenerateContent. */
export const gemini: Speech = {
  wire: 'gemini',
  hears: (path) => path.startsWith('/v1beta/'),
  side(path, body) {
    if (path.includes(':countTokens')) return json(200, { totalTokens: tokens.input })
    if (path.includes(':generateContent') && body.generationConfig?.responseMimeType === 'application/json')
      return json(200, part([{ text: '{"complexity_reasoning":"simple","complexity_score":10}' }], 'STOP', tokens))
    return undefined
  },
  say(answer, asked) {
    if ('refusal' in answer) return reply(asked, [{ text: answer.refusal }], 'SAFETY')
    const spoken = (answer.text ?? '')
      .split(/(?<=\s)/)
      .filter((text) => text !== '')
      .map((text) => ({ text }))
    if ('call' in answer)
      return reply(
        asked,
        [...spoken, { functionCall: { name: answer.call.tool, args: answer.call.input } }],
        'STOP',
        answer.usage,
      )
    const thought = answer.thought === undefined ? [] : [{ text: answer.thought, thought: true }]
    return reply(asked, [...thought, ...spoken], 'STOP', answer.usage)
  },
  half: (text) => data(part([{ text }])),
  trouble: {
    rate: error(429, 'RESOURCE_EXHAUSTED', 'Resource has been exhausted (e.g. check quota).'),
    quota: error(
      429,
      'RESOURCE_EXHAUSTED',
      'You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.',
      [
        google('QuotaFailure', {
          violations: [
            {
              quotaMetric: 'generativelanguage.googleapis.com/generate_content_free_tier_requests',
              quotaId: 'GenerateRequestsPerDayPerProjectPerModel-FreeTier',
              quotaValue: '250',
            },
          ],
        }),
      ],
    ),
    plan: error(
      429,
      'RESOURCE_EXHAUSTED',
      'You exceeded your current quota, please check your plan and billing details. Please retry in 41.930157551s.',
      [
        google('QuotaFailure', {
          violations: [
            {
              quotaMetric: 'generativelanguage.googleapis.com/generate_content_free_tier_requests',
              quotaId: 'GenerateRequestsPerMinutePerProjectPerModel-FreeTier',
              quotaValue: '10',
            },
          ],
        }),
        google('RetryInfo', { retryDelay: '41s' }),
      ],
    ),
    key: error(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [
      google('ErrorInfo', { reason: 'API_KEY_INVALID', domain: 'googleapis.com' }),
    ]),
    server: error(500, 'INTERNAL', 'An internal error has occurred. Please retry or report.'),
    overloaded: error(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'),
    overflow: error(
      400,
      'INVALID_ARGUMENT',
      'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    ),
  },
}
