import type { AddressInfo } from 'node:net'
import type { Asked, Reply } from '../real/model/script.ts'
import type { CloudWay } from './cloud-rig.ts'
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { tokenReply } from './cloud-rig.ts'

/** The behaviour of a model at every request: one whole reply, or a beginning and then nothing more. */
export type Act = (asked: Asked) => Reply | { half: string }

/** One model behind its cloud, and what came to it. */
export type Room = { way: CloudWay; url: string; targets: string[]; faults: unknown[]; tokens: number }

/** Clouds on loopback: each room hands out tokens, looks at every proof, and lets its model answer in the cloud's framing. */
export async function cloudServer() {
  const rooms: (Room & { act: Act })[] = []
  const server = createServer(async (request, response) => {
    const [, at, ...rest] = request.url!.split('/')
    const room = rooms[Number(at)]!
    const target = `/${rest.join('/')}`
    const received = {
      ...{ method: request.method!, target: request.url!, headers: request.headers },
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
    const count = room.targets.length
    const said = room.act({ wire: room.way.wire, path: target, raw: received.body, text, body, count, side: false })
    const { framed } = room.way
    const headers = { 'content-type': framed ? 'application/vnd.amazon.eventstream' : 'text/event-stream' }
    if ('half' in said) return void response.writeHead(200, headers).write(framed?.(said.half) ?? said.half)
    const streamed = said.status === 200 && framed
    response.writeHead(said.status, streamed ? headers : said.headers).end(streamed ? framed(said.body) : said.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    room(way: CloudWay, act: Act): Room {
      const room = { way, act, url: `${url}/${rooms.length}`, targets: [], faults: [], tokens: 0 }
      rooms.push(room)
      return room
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
