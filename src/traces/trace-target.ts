import type { Env } from '../base/env.ts'

/** Where traces are sent, as the environment names it. */
export type TraceTarget = {
  url: string
  headers: Record<string, string>
  service: string
  /** Whether the traces contain prompts and replies. */
  content: boolean
}

/** Reads OpenTelemetry's variables, else Langfuse's; undefined when neither names a target. */
export function targetOf(env: Env): TraceTarget | undefined {
  if (isOn(env.OTEL_SDK_DISABLED) || env.OTEL_TRACES_EXPORTER === 'none') return undefined
  const place = collector(env) ?? langfuse(env)
  if (!place) return undefined
  return {
    ...place,
    service: env.OTEL_SERVICE_NAME || 'termaite',
    content: isOn(env.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT),
  }
}

function collector(env: Env): Pick<TraceTarget, 'url' | 'headers'> | undefined {
  const whole = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT
  if (!whole && !base) return undefined
  const headers = { ...pairs(env.OTEL_EXPORTER_OTLP_HEADERS), ...pairs(env.OTEL_EXPORTER_OTLP_TRACES_HEADERS) }
  return { url: whole || `${base!.replace(/\/+$/, '')}/v1/traces`, headers }
}

function langfuse(env: Env): Pick<TraceTarget, 'url' | 'headers'> | undefined {
  const { LANGFUSE_PUBLIC_KEY: open, LANGFUSE_SECRET_KEY: secret } = env
  if (!open || !secret) return undefined
  const host = env.LANGFUSE_HOST || env.LANGFUSE_BASE_URL || 'https://cloud.langfuse.com'
  return {
    url: `${host.replace(/\/+$/, '')}/api/public/otel/v1/traces`,
    headers: {
      authorization: `Basic ${Buffer.from(`${open}:${secret}`).toString('base64')}`,
      'x-langfuse-ingestion-version': '4',
    },
  }
}

/** Reads `a=1,b=two%20words`, the format that OpenTelemetry specifies. */
function pairs(text = ''): Record<string, string> {
  const found = text.split(',').flatMap((pair) => {
    const at = pair.indexOf('=')
    return at > 0 ? [[pair.slice(0, at).trim().toLowerCase(), decoded(pair.slice(at + 1).trim())]] : []
  })
  return Object.fromEntries(found)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function isOn(value: string | undefined): boolean {
  return value?.toLowerCase() === 'true' || value === '1'
}
