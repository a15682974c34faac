import type { RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { HttpAnswer, sendRequest } from '../../src/base/http/http-request.ts'

async function served(t: TestContext, listener: RequestListener): Promise<URL> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  await once(server, 'listening')
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
}

const asked = async (url: URL, signal = new AbortController().signal, body?: string) =>
  new HttpAnswer(await sendRequest(url, { method: body === undefined ? 'GET' : 'POST', headers: {}, body, signal }, {}))

test('an answer is read as text, as JSON, as bytes or piece by piece', async (t) => {
  const url = await served(t, (request, response) => {
    response.setHeader('x-next', 'two')
    response.statusCode = request.method === 'POST' ? 201 : 404
    request.pipe(response)
    if (request.method === 'GET') response.end('"\u00e4"')
  })
  const [posted, text, json, bytes, pieces] = await Promise.all([
    asked(url, undefined, 'sent'),
    asked(url),
    asked(url),
    asked(url),
    asked(url),
  ])
  assert.deepEqual(
    [posted.status, posted.ok, posted.headers['x-next'], await posted.text()],
    [201, true, 'two', 'sent'],
  )
  assert.deepEqual([text.status, text.ok, await text.text()], [404, false, '"\u00e4"'])
  assert.equal(await json.json(), '\u00e4')
  assert.deepEqual(await bytes.bytes(), Buffer.from('"\u00e4"'))
  const reader = pieces.pieces()
  assert.deepEqual(await reader.next(), { value: Buffer.from('"\u00e4"'), done: false })
  assert.equal((await reader.next()).done, true)
})

test('a request that is cancelled ends with the reason, before its answer and in the middle of it', async (t) => {
  const url = await served(t, (request, response) => {
    if (request.url === '/half') response.write('half')
  })
  const [before, during, already] = [new AbortController(), new AbortController(), new AbortController()]
  const waiting = asked(url, before.signal)
  before.abort(new Error('left'))
  await assert.rejects(waiting, { message: 'left' })
  const answer = await asked(new URL('half', url), during.signal)
  const text = answer.text()
  during.abort('left in the middle')
  await assert.rejects(text, { message: 'left in the middle' })
  already.abort(new Error('never sent'))
  await assert.rejects(asked(url, already.signal), { message: 'never sent' })
})

test('an answer that is cut off is an error, not a short answer', async (t) => {
  const url = await served(t, (_, response) => {
    response.writeHead(200, { 'content-length': 100 })
    response.write('half', () => response.destroy())
  })
  const answer = await asked(url)
  await assert.rejects(answer.text(), { code: 'ECONNRESET' })
})

test('a request on a kept connection that the server closes meanwhile is sent once more, and one on a new connection is not', async (t) => {
  const seen: (string | undefined)[] = []
  const url = await served(t, (request, response) => {
    seen.push(request.headers.connection)
    if (request.url === '/gone') return void request.socket.destroy()
    if (seen.length === 2) return void request.socket.destroy()
    response.end(`answer ${seen.length}`)
  })
  assert.equal(await (await asked(url)).text(), 'answer 1')
  // The connection is free for the next request only after this one's turn of the event loop.
  await new Promise(setImmediate)
  assert.equal(await (await asked(url, undefined, 'sent')).text(), 'answer 3')
  assert.deepEqual(seen, ['keep-alive', 'keep-alive', 'close'])
  await assert.rejects(asked(new URL('gone', url)), { code: 'ECONNRESET' })
  assert.equal(seen.length, 4)
  // A part of a large request may have been read.
  assert.equal(await (await asked(url)).text(), 'answer 5')
  await new Promise(setImmediate)
  await assert.rejects(asked(new URL('gone', url), undefined, 'x'.repeat(100_000)), { code: /ECONNRESET|EPIPE/ })
  assert.equal(seen.length, 6)
})
