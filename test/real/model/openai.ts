import type { Reply, Trouble } from './script.ts'
import { json, planResets } from './script.ts'

const error = (status: number, type: string, code: string | null, message: string, more: object = {}) =>
  json(status, { error: { message, type, param: null, code, ...more } })

/** The errors of OpenAI on both of its wires. */
export const openaiTrouble: Partial<Record<Trouble, Reply>> = {
  rate: error(
    429,
    'tokens',
    'rate_limit_exceeded',
    'Rate limit reached for mock-model in organization org-1 on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 20s. Visit https://platform.openai.com/account/rate-limits to learn more.',
  ),
  quota: error(
    429,
    'insufficient_quota',
    'insufficient_quota',
    'You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors.',
  ),
  plan: error(429, 'usage_limit_reached', null, 'The usage limit has been reached', {
    plan_type: 'plus',
    resets_at: planResets,
  }),
  key: error(
    401,
    'invalid_request_error',
    'invalid_api_key',
    'Incorrect API key provided: made-up. You can find your API key at https://platform.openai.com/account/api-keys.',
  ),
  server: error(500, 'server_error', null, 'The server had an error while processing your request. Sorry about that!'),
  overloaded: error(
    503,
    'service_unavailable_error',
    null,
    'That model is currently overloaded with other requests. You can retry your request.',
  ),
  overflow: error(
    400,
    'invalid_request_error',
    'context_length_exceeded',
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 250000 tokens. Please reduce the length of the messages.",
  ),
}

export const models = json(200, { object: 'list', data: [{ id: 'mock-model', object: 'model', owned_by: 'mock' }] })
