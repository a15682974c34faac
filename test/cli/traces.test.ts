import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { modelServer } from '../real/model-server.ts'
import { Machine, untimed } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 60_000 }

/** A collector on loopback that keeps what it is sent. */
async function collector(t: TestContext) {
  const posts: { url?: string; key?: string; body: any }[] = []
  const server = createServer(async (request, answer) => {
    let text = ''
    for await (const chunk of request) text += chunk
    posts.push({ url: request.url!, key: request.headers['x-key'] as string, body: JSON.parse(text) })
    answer.end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return { posts, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

async function answering(t: TestContext) {
  const server = await modelServer(({ count }) =>
    count === 1 ? { call: { tool: 'ls', input: {} } } : { text: 'Nothing is there.' },
  )
  t.after(() => server.close())
  const machine = new Machine(t)
  const model = 'groq/openai/gpt-oss-120b'
  const own = { name: 'own', kind: 'native', model, baseURL: `${server.url}/v1`, contextWindowTokens: 100_000 }
  machine.settings({ agents: [own] })
  return machine
}

test('a turn arrives at the collector as spans, and costs the answer nothing', options, async (t) => {
  const { posts, url } = await collector(t)
  const machine = await answering(t)
  const env = {
    GROQ_API_KEY: 'made-up-key',
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=k1',
  }
  const { code, out, err } = await machine.run(['-p', 'what is there?'], { env })
  assert.deepEqual([code, out], [0, 'Nothing is there.\n'], err)
  assert.deepEqual(
    posts.map(({ url, key, body }) => [url, key, body.resourceSpans.length]),
    [
      ['/v1/traces', 'k1', 0],
      ['/v1/traces', 'k1', 1],
    ],
  )
  const { spans } = posts[1]!.body.resourceSpans[0].scopeSpans[0]
  assert.deepEqual(
    spans.map(({ name }: { name: string }) => name),
    ['chat openai/gpt-oss-120b', 'execute_tool ls', 'chat openai/gpt-oss-120b', 'invoke_agent own'],
  )
  const text = JSON.stringify(posts)
  assert.deepEqual([text.includes('made-up-key'), text.includes('what is there')], [false, false])
})

test('a missing collector is reported once, and the answer is the same', options, async (t) => {
  const machine = await answering(t)
  const env = { GROQ_API_KEY: 'made-up-key', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }
  const { code, out, err } = await machine.call(['-p', 'what is there?'], { env })
  assert.deepEqual([code, out], [0, 'Nothing is there.\n'])
  assert.deepEqual(err.split('\n').filter((line) => line.includes('traces')).length, 1, err)
  golden(t, untimed(err))
})
