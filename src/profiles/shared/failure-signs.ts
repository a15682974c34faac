import type { Failure, FailureKind } from '../../core/talk/outcome.ts'
import type { Ended } from '../../core/profile/profile.ts'
import { resetTime } from '../../core/talk/reset-time.ts'

/**
 * A failure in the words of one CLI, beside the real message for which the pattern was made; `local`: times in the message are in this
 * machine's time zone.
 */
export type Sign = { kind: FailureKind; says: RegExp; said: string; local?: true }

/** Only the last lines of a failed run are read, so that an answer about quotas is not mistaken for a quota failure. */
const lastLines = 12

export function readSigns(signs: readonly Sign[], ended: Ended): Failure | undefined {
  for (const channel of [ended.err, ended.out]) {
    const lines = channel
      .split('\n')
      .filter((line) => line.trim() !== '')
      .slice(-lastLines)
    for (const line of lines.reverse()) {
      const sign = signs.find(({ says }) => says.test(line))
      if (sign) return failureOf(sign, line.trim(), ended.now)
    }
  }
  return undefined
}

/** Finds the failure of a CLI that prints its errors only to stderr: its answer on stdout may mention errors too. */
export const failureBySigns =
  (signs: readonly Sign[]) =>
  (ended: Ended): Failure | undefined =>
    ended.code === 0 ? undefined : readSigns(signs, { ...ended, out: '' })

/** The failure behind a CLI's error event, found by the same signs. */
export function readMessage(signs: readonly Sign[], message: string, now: number): Failure | undefined {
  const sign = signs.find(({ says }) => says.test(message))
  return sign && failureOf(sign, message, now)
}

function failureOf({ kind, local }: Sign, message: string, now: number): Failure {
  const short = message.length > 500 ? `${message.slice(0, 500)}…` : message
  const zone = local ? Intl.DateTimeFormat().resolvedOptions().timeZone : undefined
  const retryAt = kind === 'quota' || kind === 'busy' ? resetTime(message, now, zone) : undefined
  return retryAt === undefined ? { kind, message: short } : { kind, message: short, retryAt }
}

/** Messages of providers, which many CLIs pass on. A spent quota is listed before a temporary limit, because both have status 429. */
export const providerSigns: readonly Sign[] = [
  {
    kind: 'quota',
    says: /exceeded your current quota|\binsufficient_quota\b/,
    said: 'You exceeded your current quota, please check your plan and billing details.',
  },
  {
    kind: 'quota',
    says: /\busage_limit_reached\b|usage limit (?:has been )?reached/i,
    said: 'The usage limit has been reached',
  },
  {
    kind: 'quota',
    says: /credit balance is too low/i,
    said: 'Your credit balance is too low to access the Anthropic API.',
  },
  {
    kind: 'quota',
    says: /reached your specified API usage limits/,
    said: 'You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.',
  },
  {
    kind: 'quota',
    says: /\binsufficient (?:credits|balance|funds)\b|requires more credits/i,
    said: 'Insufficient credits. Add more using https://openrouter.ai/settings/credits',
  },
  {
    kind: 'quota',
    says: /\bquota_exceeded\b|You have no quota/,
    said: '402 {"error":{"message":"You have no quota","code":"quota_exceeded"}}',
  },
  { kind: 'quota', says: /allocated quota exceeded/i, said: '429 Free allocated quota exceeded.' },
  {
    kind: 'quota',
    says: /\bRESOURCE_EXHAUSTED\b|Resource has been exhausted/,
    said: 'Resource has been exhausted (e.g. check quota).',
  },
  {
    kind: 'quota',
    says: /exhausted your (?:daily )?quota/,
    said: 'You have exhausted your daily quota on this model.',
  },
  {
    kind: 'quota',
    says: /\bper day\b|\b(?:TPD|RPD)\b|\bfree-models-per-day\b|\blimit_rpd\b/,
    said: 'Rate limit reached for model `llama-3.3-70b-versatile` on tokens per day (TPD): Limit 100000, Used 97050.',
  },
  {
    kind: 'overflow',
    says: /maximum (?:context|prompt) length|\bcontext_length_exceeded\b/,
    said: "This model's maximum context length is 128000 tokens. However, your messages resulted in 250000 tokens.",
  },
  {
    kind: 'overflow',
    says: /\b(?:prompt|input) is too long\b/i,
    said: 'prompt is too long: 250000 tokens > 200000 maximum',
  },
  {
    kind: 'overflow',
    says: /input token count .{0,20}exceeds the maximum/,
    said: 'The input token count (1234567) exceeds the maximum number of tokens allowed (1048575).',
  },
  {
    kind: 'overflow',
    says: /exceeds the available context size|Request too large for model/,
    said: 'the request exceeds the available context size. try increasing the context size or enable context shift',
  },
  {
    kind: 'auth',
    says: /incorrect api key|invalid api[- ]key|invalid x-api-key|\binvalid_api_key\b|api key not valid/i,
    said: 'Incorrect API key provided: made-up. You can find your API key at https://platform.openai.com/account/api-keys.',
  },
  {
    kind: 'auth',
    says: /\bauthentication_error\b|\bAuthenticationError\b|\b401\b|No auth credentials found|User not found\./,
    said: '401 {"type":"error","error":{"type":"authentication_error","message":"invalid bearer token"}}',
  },
  {
    kind: 'busy',
    says: /\brate[ _-]?limit|\bRateLimitError\b|\b429\b|too many requests/i,
    said: 'Rate limit reached for gpt-5 on tokens per min (TPM): Limit 30000. Please try again in 20s.',
  },
  {
    kind: 'busy',
    says: /\boverloaded(?:_error)?\b|\b(?:500|502|503|504|529)\b|service unavailable|experiencing high (?:load|demand)/i,
    said: '529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
  },
  {
    kind: 'busy',
    says: /server had an error|internal server error/i,
    said: 'The server had an error while processing your request. Sorry about that!',
  },
]

/** The providers' signs with the prefix that one CLI adds, so that no other line is mistaken for an error. */
export function providerSignsAfter(lead: RegExp): Sign[] {
  return providerSigns.map(({ kind, says, said }) => ({
    kind,
    says: new RegExp(`${lead.source}.*?(?:${says.source})`, says.flags),
    said,
  }))
}
