import { test } from 'node:test'
import assert from 'node:assert/strict'
import { targetOf } from '../../src/traces/trace-target.ts'

test('no turn is traced until the environment names a collector', () => {
  assert.equal(targetOf({}), undefined)
  assert.equal(targetOf({ LANGFUSE_PUBLIC_KEY: 'pk' }), undefined)
  assert.equal(targetOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', OTEL_SDK_DISABLED: 'true' }), undefined)
  assert.equal(targetOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', OTEL_TRACES_EXPORTER: 'none' }), undefined)
})

test('a collector is named whole or by its base, with headers as the variable writes them', () => {
  const headers = { OTEL_EXPORTER_OTLP_HEADERS: 'X-Team=one%20two, k = v,broken', OTEL_SERVICE_NAME: 'mine' }
  assert.deepEqual(targetOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318/', ...headers }), {
    url: 'http://c:4318/v1/traces',
    headers: { 'x-team': 'one two', k: 'v' },
    service: 'mine',
    content: false,
  })
  const whole = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://t/x', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c' }
  assert.equal(targetOf(whole)?.url, 'http://t/x')
})

test("Langfuse is spoken to by its own two keys, and what is said goes along only by the conventions' word", () => {
  const keys = { LANGFUSE_PUBLIC_KEY: 'pk', LANGFUSE_SECRET_KEY: 'sk', LANGFUSE_HOST: 'http://l:3000/' }
  assert.deepEqual(targetOf({ ...keys, OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'TRUE' }), {
    url: 'http://l:3000/api/public/otel/v1/traces',
    headers: { authorization: 'Basic cGs6c2s=', 'x-langfuse-ingestion-version': '4' },
    service: 'termaite',
    content: true,
  })
})
