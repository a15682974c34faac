import type { Said } from './said.ts'
import type { Told } from './send.ts'

/** When a server says that it may be asked again, in ms since 1970. */
export function retryAt(headers: Told | undefined, { message, details, body }: Said, now: number): number | undefined {
  const ms = number(headers?.get('retry-after-ms'))
  if (ms !== undefined) return now + ms
  const after = headers?.get('retry-after')
  const seconds = number(after)
  if (seconds !== undefined) return now + seconds * 1000
  const date = after ? Date.parse(after) : NaN
  if (Number.isFinite(date)) return date
  // Anthropic's plans and OpenAI's say when their window begins anew, in seconds since 1970.
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

function number(value: unknown): number | undefined {
  if (value === undefined || value === null || value === '') return undefined
  const parsed = Number(value)
  return Number.isFinite(parsed) ? parsed : undefined
}

const units: Record<string, number> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 }

/** "1h2m3.5s" in ms. */
function duration(text: unknown): number | undefined {
  if (typeof text !== 'string') return undefined
  const parts = [...text.matchAll(/([\d.]+)(ms|[dhms])/g)]
  if (parts.length === 0) return undefined
  return Math.ceil(parts.reduce((sum, [, count, unit]) => sum + Number(count) * units[unit!]!, 0))
}
