import { defined } from '../../base/defined.ts'
import { routeFault } from '../../base/http/http-route.ts'
import type { Failure, FailureKind } from '../../core/talk/outcome.ts'
import type { InvalidRequest } from '../../core/work/model.ts'
import type { Target, Trouble } from './wire-format.ts'
import type { ReplyHeaders } from './http-client.ts'

/**
 * The meaning of a provider's error: a failure, which may be temporary; a refusal, which is an answer; or an option that the server does
 * not accept.
 */
type TroubleVerdict =
  | { failure: Failure; passing: boolean; invalid?: InvalidRequest }
  | { refusal: string }
  | { without: string }

/** If a server asks for a longer wait than this, it is not busy: a quota is used up. */
const passesWithin = 15 * 60_000

export function verdictOf(trouble: Trouble, to: Target, options: readonly string[], now: number): TroubleVerdict {
  if (trouble.failure) return { failure: trouble.failure, passing: false }
  const said = saidOf(trouble)
  const { status = statusOf(said) } = trouble
  const option =
    status === 400 || status === 422 ? options.find((one) => !to.refused.has(one) && names(said, one)) : undefined
  if (option) return { without: option }
  const words = maskKey(said.message.replace(echoed, '').slice(0, 600), to.key)
  if (filtered.test(said.codes) || (status === 403 && /flagged|moderation/i.test(said.message)))
    return { refusal: words || 'The provider refused the request.' }
  const [kind, passing] = kindOf(status, said, trouble, to)
  const at = kind === 'quota' || kind === 'busy' ? quotaReset(trouble, said, now) : {}
  if (kind === 'busy' && at.retryAt !== undefined && at.retryAt - now > passesWithin)
    return { failure: { kind: 'quota', message: sentence('quota', words, to), ...at }, passing: false }
  const failure: Failure = { kind, message: sentence(kind, words, to, { ...trouble, now }), ...at }
  if (kind !== 'crash' || (status !== 400 && status !== 422)) return { failure, passing }
  return { failure, passing, invalid: defined({ tool: undescribed.exec(said.message)?.[1] }) }
}

/** AWS repeats the headers of a request whose signature is wrong, including the session token. */
const echoed = /\s*The Canonical String for this request should have been[^]*$/

/** Groq, with `tool_use_failed`: "attempted to call tool 'listFiles' which was not in request.tools". */
const undescribed = /attempted to call tool '([^']+)' which was not in request\.tools/

function kindOf(status: number | undefined, said: Said, trouble: Trouble, to: Target): [FailureKind, passing: boolean] {
  if (trouble.cause !== undefined) return brokenConnection(trouble.cause, to)
  const text = `${said.codes} ${said.message}`
  if (overflows.some((one) => one.test(text))) return ['overflow', false]
  if (status === 402 || spentWords(said, text) || daily(said) || isUnifiedLimit(trouble)) return ['quota', false]
  if (status === 401 || status === 403 || badKey.test(text + JSON.stringify(said.details))) return ['auth', false]
  if (status === 404) return ['missing', false]
  // Waiting does not help a request that is larger than the limit per minute: "Request too large … tokens per minute (TPM)".
  if (status === 413) return ['overflow', false]
  if (status === 429 || status === 408 || status === 409 || (status ?? 0) >= 500)
    // With this header, Anthropic and OpenAI say that another attempt is useless.
    return ['busy', trouble.headers?.get('x-should-retry') !== 'false']
  // Groq and Google: the model wrote a tool call that they could not parse. A second attempt usually works.
  if (/tool_use_failed|malformed_function_call|unexpected_tool_call/.test(said.codes))
    return ['crash', !undescribed.test(said.message)]
  return ['crash', status === undefined]
}

/** Error codes of a connection that was never made: no server listens there, or the name is unknown. */
const unmade = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL'])

/** Error codes of an untrusted certificate, which waiting does not change. */
const untrusted = /^(CERT_|ERR_TLS_CERT|ERR_SSL|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED|UNABLE_TO_(GET|VERIFY))/

/**
 * A connection that broke, or could not be made. A provider's own address is right, so the network must be down, which is temporary. An
 * address that the person wrote may be wrong, and a server on this machine may not be running, until it has answered once.
 */
function brokenConnection(cause: unknown, { ownAddress, answered }: Target): [FailureKind, passing: boolean] {
  const code = codeOf(cause) ?? ''
  if (untrusted.test(code) || code === routeFault) return ['crash', false]
  if (!unmade.has(code) || answered) return ['crash', true]
  return ownAddress ? ['missing', false] : ['crash', true]
}

/** Patterns of a context overflow, each next to its original message. */
const overflows = [
  /prompt is too long|request_too_large/i, // Anthropic: "prompt is too long: 250000 tokens > 200000 maximum"
  /exceed context limit/i, // Anthropic: "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000"
  /model_context_window_exceeded/i, // Anthropic's stop reason
  /context_length_exceeded|maximum context length/i, // OpenAI: "This model's maximum context length is 128000 tokens."
  /exceeds the context window/i, // OpenAI: "Your input exceeds the context window of this model."
  /input token count.*exceeds the maximum/i, // Google: "The input token count (1200000) exceeds the maximum number of tokens"
  /reduce the length of the messages/i, // Groq: "Please reduce the length of the messages or completion."
  /exceeds the available context size/i, // llama.cpp: "the request exceeds the available context size"
  /greater than the context length/i, // LM Studio: "… tokens to keep … is greater than the context length"
  /exceeds (the|maximum|max) (context|input) length/i, // Ollama: "the input length exceeds the context length"
  /request too large for/i, // OpenAI, with 429: "Request too large for gpt-4o … (TPM): Limit 30000, Requested 40000."
  /input is too long for requested model/i, // Bedrock: "Input is too long for requested model."
  /filled the whole context|do not fit into a context/i, // our own, for Ollama
]

/** OpenAI: "insufficient_quota". Anthropic: "Your credit balance is too low". Codex plans: "usage_limit_reached". */
const spentWindow =
  /insufficient_quota|usage_limit_reached|billing_hard_limit|credit balance is too low|insufficient credits|quota.*(plan and billing|billing details)|(tokens|requests) per day|\((TPD|RPD)\)|daily limit|free-models-per-day/i

/** Bedrock: "ExpiredTokenException", "UnrecognizedClientException". Google: "API key not valid", its reason "API_KEY_INVALID" and a status of 400. */
const badKey =
  /authentication_error|unrecognizedclient|expiredtoken|invalidsignature|invalid_api_key|api_key_invalid|api key not valid|permission_denied/i

/** Azure: "content_filter"; OpenAI: "invalid_prompt", "content_policy_violation". */
const filtered = /content_filter|content_policy|invalid_prompt|cyber_policy/

/** Returns the quotas that were exceeded according to Google. */
const windowsOf = ({ details }: Said): string[] =>
  details.flatMap((detail) => detail?.violations ?? []).map((one: any) => String(one?.quotaId ?? ''))

const daily = (said: Said) => windowsOf(said).some((id) => /PerDay/i.test(id)) || /limit: 0\b/.test(said.message)

/** Google uses the same words for a daily quota and for a quota per minute, which is temporary: then only the quota's name counts. */
const spentWords = (said: Said, text: string) => windowsOf(said).length === 0 && spentWindow.test(text)

const isUnifiedLimit = ({ headers }: Trouble) => headers?.get('anthropic-ratelimit-unified-status') === 'rejected'

function quotaReset(trouble: Trouble, said: Said, now: number): { retryAt?: number } {
  // With a daily quota, Google reports the next minute as the time to retry, which is wrong.
  const at = daily(said) ? undefined : retryAt(trouble.headers, said, now)
  return at === undefined ? {} : { retryAt: at }
}

/** Returns the status of an error in the middle of a stream. */
function statusOf({ codes, body }: Said): number | undefined {
  if (typeof body?.code === 'number') return body.code
  if (/overloaded|unavailable|server_error|internal|api_error|timeout/.test(codes)) return 529
  if (/rate_limit|resource_exhausted/.test(codes)) return 429
  if (/authentication|permission/.test(codes)) return 401
  if (/invalid_request|invalid_argument/.test(codes)) return 400
  return undefined
}

/** Whether an error names one of the request's options. */
function names({ message, body }: Said, option: string): boolean {
  const last = option.split('.').at(-1)!
  return (
    body?.param === option ||
    new RegExp(`\\b${last}\\b`, 'i').test(message) ||
    (option.includes('summary') && /reasoning summar/i.test(message))
  )
}

function maskKey(text: string, key: string | undefined): string {
  return key ? text.replaceAll(key, '…') : text
}

/**
 * AWS: "Signature expired: 20261116T090000Z is now earlier than …", "Signature not yet current: …". Google: "Invalid JWT: Token must be
 * a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values". Entra ID: "AADSTS700024: Client
 * assertion is not within its valid time range".
 */
const wrongTime = /signature (expired|not yet current)|request.*too skewed|reasonable timeframe|AADSTS700024/i

/** Says how far this machine's clock differs from the server's, if the server reports its time. */
function clockWords(headers: ReplyHeaders | undefined, now: number): string {
  const there = Date.parse(headers?.get('date') ?? '')
  const minutes = Math.round((now - there) / 60_000)
  const apart = minutes
    ? ` is ${Math.abs(minutes)} min ${minutes > 0 ? 'ahead of' : 'behind'} the server’s`
    : ' differs from the server’s'
  return `The clock of this machine${apart}: set it right (\`timedatectl set-ntp true\` on Linux), and try again.`
}

function sentence(
  kind: FailureKind,
  words: string,
  to: Target,
  { status, cause, headers, now = 0 }: Trouble & { now?: number } = {},
): string {
  const { name, provider, base } = to
  const said = words ? `: ${words.replace(/\.$/, '')}` : ''
  const code = codeOf(cause) ?? ''
  const key = provider.keys[0]
  switch (kind) {
    case 'auth':
      if (to.login) {
        const { words: login, next } = to.login
        return `${provider.label} refused ${login}${said}. ${wrongTime.test(words) ? clockWords(headers, now) : next}`
      }
      return `${provider.label} refused the key${said}. ${key ? `Set ${key} to a valid key, or type /connect in the chat.` : 'Check the key in the variable that `apiKeyEnv` names.'}`
    case 'missing':
      if (cause === undefined) return `${provider.label} has no model for ${name}${said}`
      return `Nothing answers at ${base}; ${provider.local?.start ?? 'check the address'}`
    case 'overflow':
      return `The conversation is too long for ${name}${said}`
    case 'quota':
      return `${provider.label} says that a limit is spent${said}`
    case 'busy':
      return `${provider.label} is ${status === 529 ? 'overloaded' : 'busy'}${status === undefined ? '' : ` (${status})`}${said}`
    default:
      if (untrusted.test(code))
        return `The certificate of ${base} is not trusted${said.replace(/; if the root CA.*/, '')}. If it is one of your own, name its authority's file in NODE_EXTRA_CA_CERTS or SSL_CERT_FILE.`
      if (unmade.has(code) || code === routeFault) return `${provider.label} cannot be reached${said}`
      return `${provider.label} failed${said}`
  }
}

/** An error in a provider's own words, in any provider's format. */
type Said = {
  message: string
  /** All codes, types and statuses, joined in lower case. */
  codes: string
  /** The details of the error, if the server sends them. */
  details: readonly any[]
  body: any
}

function saidOf({ body, cause, headers }: Trouble): Said {
  const whole: any = typeof body === 'string' ? parseBody(body) : body
  const error = whole?.error ?? whole?.[0]?.error ?? whole
  if (typeof error === 'string') return { message: error.trim(), codes: '', details: [], body: whole }
  // Amazon Bedrock: "ThrottlingException:http://internal.amazon.com/coral/…"
  const amazon = headers?.get('x-amzn-errortype')?.split(':')[0]
  const codes = [amazon, error?.type, error?.code, error?.status, error?.error_type, error?.metadata?.error_type]
  const message = [error?.message, error?.detail, whole?.message].find((one) => typeof one === 'string' && one !== '')
  return {
    message: message ?? causeWords(cause) ?? '',
    codes: codes
      .filter((code) => typeof code === 'string')
      .join(' ')
      .toLowerCase(),
    details: Array.isArray(error?.details) ? error.details : [],
    body: error,
  }
}

/** Parses the body of an error. An HTML page counts as an empty message. */
function parseBody(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return { error: /^\s*</.test(text) ? '' : text }
  }
}

/** Returns the message of the innermost cause, which says why the connection broke. */
function causeWords(cause: unknown): string | undefined {
  if (!(cause instanceof Error)) return cause === undefined ? undefined : String(cause)
  return causeWords(cause.cause) ?? (cause.message || codeOf(cause))
}

/** Returns the system's code of the innermost cause. */
function codeOf(cause: unknown): string | undefined {
  if (typeof cause !== 'object' || cause === null) return undefined
  const { code, cause: inner, errors } = cause as { code?: unknown; cause?: unknown; errors?: unknown[] }
  return codeOf(inner) ?? codeOf(errors?.[0]) ?? (typeof code === 'string' ? code : undefined)
}

/** Returns when the server can be asked again, in ms since 1970, if it says so. */
function retryAt(headers: ReplyHeaders | undefined, { message, details, body }: Said, now: number): number | undefined {
  const ms = number(headers?.get('retry-after-ms'))
  if (ms !== undefined) return now + ms
  const after = headers?.get('retry-after')
  const seconds = number(after)
  if (seconds !== undefined) return now + seconds * 1000
  const date = after ? Date.parse(after) : NaN
  if (Number.isFinite(date)) return date
  const window = spentWindows(headers, now)
  if (window !== undefined) return window
  // The plans of Anthropic and OpenAI report when their quota starts over, in seconds since 1970.
  const reset = number(headers?.get('anthropic-ratelimit-unified-reset')) ?? number(body?.resets_at)
  if (reset !== undefined) return reset * 1000
  // OpenRouter: {"metadata":{"headers":{"X-RateLimit-Reset":"1741305600000"}}}
  const millis = number(body?.metadata?.headers?.['X-RateLimit-Reset'])
  if (millis !== undefined) return millis
  // Google: {"@type":"…RetryInfo","retryDelay":"41s"}
  const delay = details.map((detail) => duration(detail?.retryDelay)).find((one) => one !== undefined)
  if (delay !== undefined) return now + delay
  // OpenAI, Groq: "Please try again in 7m12.5s." Google: "Please retry in 41.93s."
  const stated = duration(/(?:try again|retry) in ((?:[\d.]+(?:ms|[dhms]))+)/i.exec(message)?.[1])
  return stated === undefined ? undefined : now + stated
}

/** The windows of a provider's rate limit, keyed by the middle part of the header names. */
const rateWindows = ['requests', 'tokens', 'input-tokens', 'output-tokens']

/**
 * Returns when the last of the used-up windows starts over. Anthropic reports a date (`anthropic-ratelimit-tokens-reset`), OpenAI and
 * Groq a duration (`x-ratelimit-reset-tokens: 6m0s`), each next to the remaining amount.
 */
function spentWindows(headers: ReplyHeaders | undefined, now: number): number | undefined {
  const resets = rateWindows.flatMap((window) => {
    const dated = `anthropic-ratelimit-${window}`
    const date = headers?.get(`${dated}-remaining`) === '0' ? Date.parse(headers.get(`${dated}-reset`) ?? '') : NaN
    const left = headers?.get(`x-ratelimit-remaining-${window}`)
    const span = left === '0' ? duration(headers!.get(`x-ratelimit-reset-${window}`)) : undefined
    return [...(Number.isFinite(date) ? [date] : []), ...(span === undefined ? [] : [now + span])]
  })
  return resets.length > 0 ? Math.max(...resets) : undefined
}

function number(value: unknown): number | undefined {
  if (value === undefined || value === null || value === '') return undefined
  const parsed = Number(value)
  return Number.isFinite(parsed) ? parsed : undefined
}

const units: Record<string, number> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 }

/** Converts "1h2m3.5s" to ms. */
function duration(text: unknown): number | undefined {
  if (typeof text !== 'string') return undefined
  const parts = [...text.matchAll(/([\d.]+)(ms|[dhms])/g)]
  if (parts.length === 0) return undefined
  return Math.ceil(parts.reduce((sum, [, count, unit]) => sum + Number(count) * units[unit!]!, 0))
}
