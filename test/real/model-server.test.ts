import type { Script } from './model-server.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { modelServer } from './model-server.ts'

const paths = {
  anthropic: '/v1/messages',
  responses: '/v1/responses',
  chat: '/v1/chat/completions',
  gemini: '/v1beta/models/any:streamGenerateContent?alt=sse',
}

async function served<T>(
  script: Script,
  use: (
    ask: (path: string, body?: object) => Promise<Response>,
    server: Awaited<ReturnType<typeof modelServer>>,
  ) => Promise<T>,
) {
  const server = await modelServer(script)
  try {
    const ask = (path: string, body: object = { model: 'any', stream: true }) =>
      fetch(server.url + path, { method: 'POST', body: JSON.stringify(body) })
    return await use(ask, server)
  } finally {
    await server.close()
  }
}

test('every wire streams the scripted words, and keeps the requests byte for byte', async () => {
  await served(
    ({ wire }) => ({ text: `I am ${wire}.` }),
    async (ask, server) => {
      for (const [wire, path] of Object.entries(paths)) {
        const body = await (await ask(path)).text()
        const said = [...body.matchAll(/"(?:text|delta|content)":"([^"]*)"/g)].map(([, part]) => part).join('')
        assert.ok(said.includes(`I am ${wire}.`), body)
      }
      assert.deepEqual(
        server.turns().map(({ wire, count, raw }) => [wire, count, raw.toString()]),
        Object.keys(paths).map((wire, at) => [wire, at + 1, '{"model":"any","stream":true}']),
      )
    },
  )
})

test('an answer that is not streamed comes whole', async () => {
  await served(
    () => ({ text: 'Hello.' }),
    async (ask) => {
      const chat = await (await ask(paths.chat, { model: 'any' })).json()
      const messages = await (await ask(paths.anthropic, { model: 'any' })).json()
      assert.deepEqual(
        [chat.choices[0].message, messages.content],
        [{ role: 'assistant', content: 'Hello.' }, [{ type: 'text', text: 'Hello.' }]],
      )
    },
  )
})

test('troubles have the provider’s own status, and a drop breaks the answer', async () => {
  await served(
    () => ({ error: 'rate' }),
    async (ask) => {
      const statuses = await Promise.all(Object.values(paths).map(async (path) => (await ask(path)).status))
      assert.deepEqual(statuses, [429, 429, 429, 429])
    },
  )
  await served(
    () => ({ drop: 'Half' }),
    async (ask) => assert.rejects((await ask(paths.chat)).text()),
  )
})

test('counts and routers are answered beside the script', async () => {
  await served(
    () => assert.fail('not asked'),
    async (ask, server) => {
      const counted = await (await ask('/v1/messages/count_tokens', {})).json()
      const routed = await ask('/v1beta/models/any:generateContent', {
        generationConfig: { responseMimeType: 'application/json' },
      })
      assert.deepEqual([counted, routed.status, server.turns()], [{ input_tokens: 1200 }, 200, []])
    },
  )
})
