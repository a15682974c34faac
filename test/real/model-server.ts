import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Answer, Asked, Reply, Script, Speech } from './model/script.ts'
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { anthropic } from './model/anthropic.ts'
import { chat } from './model/chat.ts'
import { gemini } from './model/gemini.ts'
import { responses } from './model/responses.ts'

export type { Answer, Asked, Script, Trouble } from './model/script.ts'
export { planResets, tokens } from './model/script.ts'

const speeches: readonly Speech[] = [anthropic, responses, chat, gemini]

/** Providers' models on loopback, as a script has them: the real CLIs talk to it with made-up keys. */
export type ModelServer = {
  url: string
  /** Every request so far, byte for byte, side calls among them. */
  asked: Asked[]
  /** The requests of the turns alone. */
  turns(): Asked[]
  /** Resolves when the request of that number has come, whether it is answered or not. */
  received(count: number): Promise<Asked>
  close(): Promise<void>
}

/** A reply with the further headers of its answer. */
const headed = (reply: Reply, answer: Answer): Reply =>
  'headers' in answer ? { ...reply, headers: { ...reply.headers, ...answer.headers } } : reply

export async function modelServer(script: Script): Promise<ModelServer> {
  const asked: Asked[] = []
  const waiting: { count: number; come(asked: Asked): void }[] = []
  const turns = () => asked.filter(({ side }) => !side)

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? '/'
    const speech = speeches.find((one) => one.hears(path))
    const raw = await buffer(request)
    const text = decoded(raw, request.headers['content-encoding'])
    if (!speech) return void response.writeHead(404).end()
    const body = text === '' ? {} : JSON.parse(text)
    const side = speech.side(path, body)
    const { headers } = request
    const one: Asked = {
      wire: speech.wire,
      path,
      headers,
      raw,
      text,
      body,
      count: turns().length + 1,
      side: side !== undefined,
    }
    asked.push(one)
    if (side) return send(response, side)
    for (const { count, come } of waiting) if (count === one.count) come(one)
    const next = await script(one)
    if ('hang' in next) return
    if ('raw' in next) return send(response, next.raw)
    if ('drop' in next || 'stall' in next) {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      if ('stall' in next) return void response.write(speech.half(next.stall, one))
      return void response.write(speech.half(next.drop, one), () => response.destroy())
    }
    if ('error' in next) {
      const trouble = speech.trouble[next.error]
      if (!trouble) throw new Error(`${speech.wire} has no trouble of the kind ${next.error}`)
      return send(response, headed(trouble, next))
    }
    send(response, headed(speech.say(next, one), next))
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: Error) => {
      process.stderr.write(`scripted model: ${error.stack}\n`)
      response.destroy()
    })
  })
  // Codex tries a WebSocket first and goes on over HTTP at once when it is refused like this.
  server.on('upgrade', (_request, socket) => {
    socket.end('HTTP/1.1 426 Upgrade Required\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    turns,
    received: (count) =>
      new Promise((come) => {
        const already = turns()[count - 1]
        if (already) come(already)
        else waiting.push({ count, come })
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function send(response: ServerResponse, reply: Reply) {
  response.writeHead(reply.status, reply.headers).end(reply.body)
}

function decoded(raw: Buffer, encoding: string | undefined): string {
  if (encoding === 'gzip') return gunzipSync(raw).toString()
  if (encoding === 'zstd') return zstdDecompressSync(raw).toString()
  return raw.toString()
}
