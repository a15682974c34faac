import type { Env } from '../base/env.ts'
import type { Span } from './span.ts'
import type { TraceTarget } from './trace-target.ts'
import { fetchMessage } from '../base/error-message.ts'
import { fetchFor } from '../base/http/proxied-fetch.ts'

/** How long a turn waits for the collector. */
const longestMs = 3_000

/** Sends spans to the collector, through the proxy of the environment if there is one; without spans it only checks that the collector answers. Returns why that failed. */
export async function sendSpans(
  target: TraceTarget,
  version: string,
  spans: readonly Span[],
  env: Env,
): Promise<string | undefined> {
  try {
    const answer = await fetchFor(env)(target.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...target.headers },
      body: otlpBody(target.service, version, spans),
      signal: AbortSignal.timeout(longestMs),
    })
    await answer.body?.cancel()
    return answer.ok ? undefined : `${new URL(target.url).host} answered ${answer.status}`
  } catch (error) {
    return fetchMessage(error)
  }
}

const kinds = { internal: 1, client: 3 }
const failed = 2

/** Writes spans as OTLP JSON, in which times are nanoseconds as strings. */
export function otlpBody(service: string, version: string, spans: readonly Span[]): string {
  const resource = { attributes: attributes({ 'service.name': service, 'service.version': version }) }
  const scopeSpans = [{ scope: { name: 'termaite', version }, spans: spans.map(otlpSpan) }]
  return JSON.stringify({ resourceSpans: spans.length ? [{ resource, scopeSpans }] : [] })
}

function otlpSpan(span: Span): object {
  return {
    traceId: span.trace,
    spanId: span.id,
    parentSpanId: span.parent,
    name: span.name,
    kind: kinds[span.kind],
    startTimeUnixNano: nanos(span.from),
    endTimeUnixNano: nanos(span.to),
    attributes: attributes(span.attributes),
    status: span.error === undefined ? {} : { code: failed, message: span.error },
  }
}

function attributes(values: Span['attributes']): object[] {
  return Object.entries(values).map(([key, value]) => ({ key, value: anyValue(value) }))
}

function anyValue(value: string | number | boolean): object {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}

function nanos(ms: number): string {
  return `${Math.round(ms * 1000)}000`
}
