import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { HubClient } from '../../../src/hub/client/hub-client.ts'
import { HubAway } from '../../../src/hub/engine/remote-hub.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

/** A server that answers each request with these bytes and hangs up. */
async function saying(t: TestContext, ...bytes: string[]): Promise<HubClient> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(bytes.join('\r\n')))
  }).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  return new HubClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
}

const listened = async (hub: HubClient) => {
  const seen: number[] = []
  for await (const { seq } of hub.changes(0, new AbortController().signal)) seen.push(seq)
  return seen
}

test('a hub that breaks off its answer counts as away, whatever was asked', async (t) => {
  const json = ['HTTP/1.1 200 OK', 'content-type: application/json', 'content-length: 100', '', '{"id":']
  await assert.rejects((await saying(t, ...json)).task('x'), HubAway)
  await assert.rejects((await saying(t, 'HTTP/1.1 409 Conflict', ...json.slice(1))).task('x'), HubAway)
  await assert.rejects((await saying(t, 'HTTP/1.1 200')).task('x'), HubAway)
  const stream = ['HTTP/1.1 200 OK', 'transfer-encoding: chunked', '']
  const event = 'id: 1\nevent: gone\ndata: {"seq":1}\n\n'
  const chunk = `${event.length.toString(16)}\r\n${event}`
  await assert.rejects(listened(await saying(t, ...stream, chunk, '')), HubAway)
  assert.deepEqual(await listened(await saying(t, ...stream, chunk, '0', '', '')), [1])
})

test('a follower that is too far behind is told so', async (t) => {
  const hub = await saying(t, 'HTTP/1.1 200 OK', 'connection: close', '', 'event: lost\ndata: {}\n\n')
  await golden.rejects(t, listened(hub))
})

test('a hub of another version says which side has to be updated', async (t) => {
  const stray = JSON.stringify({ error: 'there is no field origin; the fields are id, prompt.' })
  const answers: Record<string, [number, string]> = { '/api/tasks': [400, stray], '/api/version': [404, '{}'] }
  const server = createHttpServer((request, response) => {
    const [status, body] = answers[request.url ?? ''] ?? [404, '{}']
    response.writeHead(status).end(body)
  }).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const hub = new HubClient({ url })
  const add = () => hub.add({ prompt: 'x', workspace: '/x' }).catch((error: Error) => error.message)
  golden(t, await add(), { [url]: '<url>' })
  answers['/api/version'] = [200, '{"version":"9.9.9","protocol":99}']
  golden(t, await add(), { [url]: '<url>' })
})
