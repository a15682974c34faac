import type { AddressInfo } from 'node:net'
import type { Asked, Reply, Speech } from '../../real/model/script.ts'
import type { CloudWay } from './cloud-rig.ts'
import { after, test } from 'node:test'
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { realClock } from '../../../src/base/clock.ts'
import { openModel } from '../../../src/models/open-model.ts'
import { anthropic } from '../../real/model/anthropic.ts'
import { chat } from '../../real/model/chat.ts'
import { gemini } from '../../real/model/gemini.ts'
import { responses } from '../../real/model/responses.ts'
import { modelContract } from '../../contract/model.ts'
import { counting } from '../server.ts'
import { blobs, eventsOf, hello } from '../tap.ts'
import { cloudWays, tokenReply } from './cloud-rig.ts'

type Act = (asked: Asked) => Reply | { half: string }
type Room = { way: CloudWay; act: Act; targets: string[]; faults: unknown[]; tokens: number }

const rooms: Room[] = []

/** A cloud on loopback: it hands out tokens, looks at every proof, and lets the model of the room answer. */
const server = createServer(async (request, response) => {
  const [, at, ...rest] = request.url!.split('/')
  const room = rooms[Number(at)]!
  const target = `/${rest.join('/')}`
  const received = {
    method: request.method!,
    target: request.url!,
    headers: request.headers,
    body: await buffer(request),
  }
  try {
    const token = tokenReply(received)
    if (token) {
      room.tokens++
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(token))
    }
    room.targets.push(target)
    room.way.verify(received)
  } catch (fault) {
    room.faults.push(fault)
    return void response.writeHead(403, { 'content-type': 'application/json' }).end('{"message":"it was not right"}')
  }
  const text = received.body.toString()
  const body = { ...JSON.parse(text), stream: true }
  const said = room.act({ wire: 'chat', path: target, raw: received.body, text, body, count: 1, side: false })
  const { framed } = room.way
  const headers = { 'content-type': framed ? 'application/vnd.amazon.eventstream' : 'text/event-stream' }
  if ('half' in said) return void response.writeHead(200, headers).write(framed?.(said.half) ?? said.half)
  const streamed = said.status === 200 && framed
  response.writeHead(said.status, streamed ? headers : said.headers).end(streamed ? framed(said.body) : said.body)
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
after(() => {
  server.closeAllConnections()
  server.close()
})
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const speeches: Record<CloudWay['wire'], Pick<Speech, 'say' | 'half' | 'trouble'>> = {
  anthropic,
  chat,
  responses,
  gemini,
}

function opened(way: CloudWay, act: Act, fetch?: ReturnType<typeof counting>['fetch']) {
  const at = rooms.length
  const room: Room = { way, act, targets: [], faults: [], tokens: 0 }
  rooms.push(room)
  const env = way.env(`${url}/${at}`)
  const parts = { key: () => way.key, blobs, clock: realClock, env, ...(fetch ? { fetch } : {}) }
  return { room, model: openModel({ model: way.model, baseURL: `${url}/${at}` }, parts) }
}

for (const [name, way] of Object.entries(cloudWays)) {
  const speech = speeches[way.wire]
  const count = counting()
  const made = (act: Act) => opened(way, act, count.fetch).model
  modelContract(name, {
    says: (text) => made((asked) => speech.say({ text }, asked)),
    calls: (tool, input) => made((asked) => speech.say({ call: { tool, input } }, asked)),
    fails: () => made(() => (speech.trouble.quota ?? speech.trouble.credit)!),
    hangs: (text) => made((asked) => ({ half: speech.half(text, asked) })),
    running: count.open,
  })

  test(`${name}: the address and the proof are what the cloud wants, and a token is fetched once for all requests`, async () => {
    const { room, model } = opened(way, (asked) => speech.say({ text: 'well' }, asked))
    await Promise.all([1, 2, 3].map(() => eventsOf(model, hello)))
    await eventsOf(model, hello)
    assert.deepEqual(room.faults, [])
    assert.deepEqual(room.targets, Array(4).fill(way.path))
    assert.equal(room.tokens, /Vertex|Entra/.test(name) ? 1 : 0)
  })
}
