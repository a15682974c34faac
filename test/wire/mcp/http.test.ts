import { after, test } from 'node:test'
import assert from 'node:assert/strict'
import { request as plainRequest } from 'node:http'
import { realClock } from '../../../src/base/time/clock.ts'
import type { HttpServer } from '../../../src/wire/http/http-server.ts'
import { serveMcpHttp } from '../../../src/wire/mcp/mcp-http.ts'
import { loadMcpLibrary, toolServer } from '../../../src/wire/mcp/tool-server.ts'
import { envelope, initialize } from './pipes.ts'
import { listedTools, served, Waiter } from './served.ts'

const open: HttpServer[] = []
after(() => Promise.all(open.map((serving) => serving.close())))

const key = 'the-key'
const library = await loadMcpLibrary()

async function serving(waiter?: Waiter): Promise<HttpServer> {
  const options = { host: '127.0.0.1', port: 0, key, clock: realClock, trouble() {} }
  const made = await serveMcpHttp(library, toolServer(library, served(waiter)), options)
  open.push(made)
  return made
}

const usual = {
  authorization: `Bearer ${key}`,
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
}

function post(url: string, message: object, headers: Record<string, string> = {}, signal?: AbortSignal) {
  const body = JSON.stringify({ jsonrpc: '2.0', ...message })
  return fetch(url, { method: 'POST', headers: { ...usual, ...headers }, body, ...(signal ? { signal } : {}) })
}

/** The messages of an answer, be it one or a stream. */
async function messages(response: Response): Promise<unknown[]> {
  const text = await response.text()
  if (!response.headers.get('content-type')?.includes('event-stream')) return [JSON.parse(text)]
  return [...text.matchAll(/^data: (.+)$/gm)].map(([, data]) => JSON.parse(data!) as unknown)
}

const modern = (method: string, name?: string) => ({
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': method,
  ...(name ? { 'mcp-name': name } : {}),
})

test('a client of the newer protocol needs no session', async () => {
  const { url } = await serving()
  const params = { name: 'echo', arguments: { said: 'hi' }, _meta: envelope }
  const response = await post(url, { id: 1, method: 'tools/call', params }, modern('tools/call', 'echo'))
  const [{ result }] = (await messages(response)) as [{ result: { content: unknown; structuredContent: unknown } }]
  const { content, structuredContent } = result
  assert.deepEqual(
    [response.status, response.headers.get('mcp-session-id'), content, structuredContent],
    [200, null, [{ type: 'text', text: 'It was said: hi' }], { said: 'hi' }],
  )
})

test('a client of the older protocol has a session, and one that is over is not found', async () => {
  const { url } = await serving()
  const greeted = await post(url, initialize)
  const session = { 'mcp-session-id': greeted.headers.get('mcp-session-id')! }
  await greeted.text()
  assert.equal((await post(url, { method: 'notifications/initialized' }, session)).status, 202)
  const listed = await messages(await post(url, { id: 1, method: 'tools/list' }, session))
  assert.deepEqual(listed, [{ jsonrpc: '2.0', id: 1, result: { tools: listedTools } }])
  assert.equal((await fetch(url, { method: 'DELETE', headers: { ...usual, ...session } })).status, 200)
  assert.equal((await post(url, { id: 2, method: 'tools/list' }, session)).status, 404)
})

test('a client of the older protocol cancels a call of its own session', async () => {
  const waiter = new Waiter()
  const { url } = await serving(waiter)
  const greeted = await post(url, initialize)
  const session = { 'mcp-session-id': greeted.headers.get('mcp-session-id')! }
  await greeted.text()
  const hangUp = new AbortController()
  const waiting = post(url, { id: 7, method: 'tools/call', params: { name: 'wait' } }, session, hangUp.signal)
  const call = await waiter.called()
  const params = { requestId: 7 }
  assert.equal((await post(url, { method: 'notifications/cancelled', params }, session)).status, 202)
  assert.equal(call.signal.aborted, true)
  hangUp.abort()
  await waiting.then((answer) => answer.text()).catch(() => {})
})

test('a client of the newer protocol cancels by hanging up', async () => {
  const waiter = new Waiter()
  const { url } = await serving(waiter)
  const hangUp = new AbortController()
  const params = { name: 'wait', arguments: {}, _meta: envelope }
  const waiting = post(url, { id: 1, method: 'tools/call', params }, modern('tools/call', 'wait'), hangUp.signal)
  waiting.catch(() => {})
  const { signal } = await waiter.called()
  const cancelled = new Promise((resolve) => signal.addEventListener('abort', resolve))
  hangUp.abort()
  await cancelled
})

test('progress comes on the stream of its call', async () => {
  const waiter = new Waiter()
  const { url } = await serving(waiter)
  const params = { name: 'wait', arguments: {}, _meta: { ...envelope, progressToken: 9 } }
  const waiting = post(url, { id: 1, method: 'tools/call', params }, modern('tools/call', 'wait'))
  const call = await waiter.called()
  call.progress('half')
  waiter.letGo('done')
  const [progress, answer] = (await messages(await waiting)) as [{ params: object }, { result: { content: unknown } }]
  const { progressToken, progress: count, message } = progress.params as Record<string, unknown>
  assert.deepEqual([progressToken, count, message], [9, 1, 'half'])
  assert.deepEqual(answer.result.content, [{ type: 'text', text: 'done' }])
})

test('a request without the key, with another host, from another site or to another path is refused', async () => {
  const { url } = await serving()
  const status = async (headers: Record<string, string>, to = url) =>
    (await post(to, { id: 1, method: 'tools/list', params: { _meta: envelope } }, headers)).status
  assert.equal(await status({ authorization: '' }), 401)
  assert.equal(await status({ authorization: 'Bearer the-kez' }), 401)
  assert.equal(await status({ authorization: `Bearer ${key} ` + 'x' }), 401)
  assert.equal(await status({ origin: 'https://evil.example' }), 403)
  assert.equal(await status({ origin: 'null' }), 403)
  assert.equal(await status({ origin: 'http://localhost:3000', ...modern('tools/list') }), 200)
  assert.equal(await status({}, url.replace('/mcp', '/')), 404)
  assert.equal(await hostStatus(url, 'evil.example'), 403)
  const refused = await post(url, {}, { authorization: 'Bearer no' })
  assert.equal(refused.headers.get('www-authenticate'), 'Bearer realm="termaite"')
})

test('a bad request is answered with its status', async () => {
  const { url } = await serving()
  const send = async (init: RequestInit) => (await fetch(url, { headers: usual, ...init })).status
  assert.equal(await send({ method: 'GET' }), 405)
  assert.equal(await send({ method: 'DELETE' }), 405)
  assert.equal(await send({ method: 'PUT', body: '{}' }), 405)
  assert.equal(await send({ method: 'POST', body: 'no json' }), 400)
  assert.equal(await send({ method: 'POST', body: '{}' }), 400)
  assert.equal(await send({ method: 'POST', body: 'x', headers: { ...usual, 'content-type': 'text/plain' } }), 415)
  assert.equal(await send({ method: 'POST', body: JSON.stringify({ text: 'x'.repeat(5_000_000) }) }), 413)
})

test('a call under way ends with the server', async () => {
  const waiter = new Waiter()
  const { url, close } = await serving(waiter)
  const params = { name: 'wait', arguments: {}, _meta: envelope }
  const waiting = post(url, { id: 1, method: 'tools/call', params }, modern('tools/call', 'wait'))
  const call = await waiter.called()
  await Promise.all([close(), waiting.then((answer) => answer.text()).catch(() => {})])
  assert.equal(call.signal.aborted, true)
})

/** `fetch` does not let a page, or a test, say another Host. */
function hostStatus(url: string, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = plainRequest(url, { method: 'POST', headers: { ...usual, host } }, (response) => {
      response.resume()
      resolve(response.statusCode!)
    })
    sent.on('error', reject)
    sent.end('{}')
  })
}
