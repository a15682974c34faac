import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { realClock } from '../../src/base/time/clock.ts'
import { send } from '../../src/models/http/http-client.ts'
import { openModel } from '../../src/models/open/open-model.ts'
import { blobs, eventsOf, hello, sse } from './tap.ts'

async function served(t: TestContext, answer: (request: IncomingMessage, response: ServerResponse) => unknown) {
  let connections = 0
  const server = createServer(answer).on('connection', () => connections++)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, connections: () => connections }
}

const answered = sse({ choices: [{ delta: { content: 'yes' }, finish_reason: 'stop' }] }, '[DONE]')

test('a request arrives as it was sent, and its answer comes back', async (t) => {
  const { url } = await served(t, async (request, response) => {
    const { method, headers } = request
    response.writeHead(429, { 'retry-after': '7', 'content-type': 'application/json' })
    response.end(JSON.stringify({ method, key: headers['x-api-key'], body: await json(request) }))
  })
  const reply = await send(url, { method: 'POST', headers: { 'x-api-key': 'made-up' }, body: '{"é":1}' })
  assert.deepEqual(
    [reply.ok, reply.status, reply.headers.get('retry-after'), reply.headers.get('absent')],
    [false, 429, '7', null],
  )
  assert.deepEqual(await reply.json(), { method: 'POST', key: 'made-up', body: { é: 1 } })
})

test('one connection serves one request after another, also when an answer ends long after its last word', async (t) => {
  const ends: (() => void)[] = []
  const { url, connections } = await served(t, (request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(answered)
    ends.push(() => response.end())
  })
  const model = openModel({ model: 'compatible/any', baseURL: url }, { blobs, clock: realClock })
  const said = [
    { type: 'text', delta: 'yes' },
    { type: 'end', stop: 'done' },
  ]
  for (let round = 1; round <= 3; round++) {
    const turn = new AbortController()
    assert.deepEqual(await eventsOf(model, hello, turn.signal), said)
    ends.at(-1)!()
    await freed(url)
    // The request is over, and its connection belongs to nobody any more.
    turn.abort()
  }
  assert.deepEqual([ends.length, connections()], [3, 1])
})

/** Until the connection to a server waits for its next request. */
async function freed(url: string): Promise<void> {
  const { globalAgent } = process.getBuiltinModule('node:http')
  const name = globalAgent.getName({ host: '127.0.0.1', port: Number(new URL(url).port) })
  while (!globalAgent.freeSockets[name]?.length) await new Promise(setImmediate)
}

test('an answer that is cancelled or left is no longer held open', async (t) => {
  const closed = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let count = 0
  const { url } = await served(t, (request, response) => {
    request.resume()
    response.on('close', closed[count++]!.resolve)
    const begun = sse({ choices: [{ delta: { content: 'y' } }] })
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(begun)
  })
  const model = openModel({ model: 'compatible/any', baseURL: url }, { blobs, clock: realClock })
  const cancel = new AbortController()
  const heard: unknown[] = []
  for await (const event of model.stream(hello, cancel.signal)) {
    heard.push(event)
    cancel.abort()
  }
  assert.deepEqual(heard, [
    { type: 'text', delta: 'y' },
    { type: 'failure', failure: { kind: 'aborted', message: 'cancelled' } },
  ])
  await closed[0]!.promise
  for await (const _event of model.stream(hello, new AbortController().signal)) break
  await closed[1]!.promise
})

test('a kept connection that the server closed meanwhile is no failure', async (t) => {
  let count = 0
  const { url, connections } = await served(t, (request, response) => {
    request.resume()
    // The second request meets a server that has just given its connection up.
    if (++count === 2) return void request.socket.destroy()
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(answered)
  })
  const replies: string[] = []
  for (let round = 1; round <= 2; round++) {
    replies.push(await (await send(url)).text())
    await freed(url)
  }
  assert.deepEqual([replies, count, connections()], [[answered, answered], 3, 2])
})

test('a refused connection is rejected with the error of the system', async (t) => {
  const { url, server } = await served(t, () => {})
  server.close()
  await once(server, 'close')
  await assert.rejects(send(url), { code: 'ECONNREFUSED' })
  await assert.rejects(send('no address'), { code: 'ERR_INVALID_URL' })
})
