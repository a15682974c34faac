import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { startedHub } from './hub.ts'
import { Machine } from './program.ts'

const options = { timeout: 60_000 }
const tooMuch = 'x'.repeat(5 * 1024 * 1024)

type Sent = { method?: string; path?: string; headers?: Record<string, string>; body?: string | string[] }

/** One request as it is told, and nothing else: fetch would mend some of what is wrong here. */
async function said(url: string, { method = 'POST', path = '', headers, body = '' }: Sent): Promise<number> {
  const sent = request(url + path, { method, ...(headers ? { headers } : {}), agent: false })
  // A request that is refused early may find its connection closed while it is still being sent.
  sent.on('error', () => {})
  const answered = once(sent, 'response')
  for (const part of [body].flat()) sent.write(part)
  sent.end()
  const [response] = await answered
  response.resume()
  return response.statusCode
}

/** The status for each kind of faulty request, at one path of the hub. */
async function refusals(t: TestContext, path: string, good: { headers: Record<string, string>; body: object }) {
  const { url, key, hub } = await startedHub(t, new Machine(t))
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...good.headers }
  const body = JSON.stringify(good.body)
  const send = (sent: Sent) => said(url, { path, body, ...sent, headers: { ...headers, ...sent.headers } })
  const answers = {
    'no key': await send({ headers: { authorization: '' } }),
    'a wrong key': await send({ headers: { authorization: `Bearer ${key.slice(0, -1)}` } }),
    'a key of another kind': await send({ headers: { authorization: `Basic ${key}` } }),
    'another Host': await send({ headers: { host: 'evil.example' } }),
    'another Origin': await send({ headers: { origin: 'https://evil.example' } }),
    'a method that it has not': await send({ method: 'PUT' }),
    'a form': await send({ headers: { 'content-type': 'text/plain' } }),
    'too much': await send({ body: tooMuch }),
    'too much in parts': await send({
      body: [tooMuch.slice(0, 9), tooMuch],
      headers: { 'transfer-encoding': 'chunked' },
    }),
    'no JSON': await send({ body: body.slice(0, -1) }),
    'another shape': await send({ body: '[7]' }),
    'another path': await send({ path: `${path}/../../etc/passwd` }),
  }
  const { seq, tasks, agents } = await hub.state()
  assert.deepEqual({ seq, tasks, agents }, { seq: 0, tasks: [], agents: [] }, 'a trace is left')
  const fine = await send({})
  assert.deepEqual([fine, (await hub.tasks()).length], [200, 1], 'only what was wrong with it was wrong')
  return answers
}

/** The status with which each kind of faulty request is refused, at every path. */
const statuses = {
  'no key': 401,
  'a wrong key': 401,
  'a key of another kind': 401,
  'another Host': 403,
  'another Origin': 403,
  'a method that it has not': 405,
  'a form': 415,
  'too much': 413,
  'too much in parts': 413,
  'no JSON': 400,
  'another shape': 400,
  'another path': 404,
}

test('each wrong request at the API is refused with its status and leaves no trace', options, async (t) => {
  assert.deepEqual(await refusals(t, '/api/tasks', { headers: {}, body: { prompt: 'x', workspace: 'w' } }), statuses)
})

test('each wrong request at /mcp is refused with its status and leaves no trace', options, async (t) => {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const params = { name: 'assign_task', arguments: { prompt: 'x', workspaceId: 'w' }, _meta }
  const headers = {
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': 'assign_task',
  }
  const good = { headers, body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params } }
  assert.deepEqual(await refusals(t, '/mcp', good), statuses)
})
