import type { AddressInfo } from 'node:net'
import type { Send } from '../../src/models/http/http-client.ts'
import type { Asked, Reply, Speech } from '../real/model/script.ts'
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { send } from '../../src/models/http/http-client.ts'
import { json, stream } from '../real/model/script.ts'

/** The behaviour of a model at every request: one whole reply, or a beginning and then nothing more. */
export type Act = (asked: Asked) => Reply | { half: string }

/** A model on loopback, over real HTTP; each path is another one. */
export async function speaking(acts: Map<string, Act>): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    const raw = await buffer(request)
    const [, name = '', ...rest] = (request.url ?? '').split('/')
    const path = `/${rest.join('/')}`
    const body = raw.length > 0 ? JSON.parse(raw.toString()) : {}
    const said = acts.get(name)!({ wire: 'chat', path, raw, text: raw.toString(), body, count: 1, side: false })
    if ('half' in said) return void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(said.half)
    response.writeHead(said.status, said.headers).end(said.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Our own client, with a count of the answers that are still being read. */
export function counting(): { fetch: Send; open(): number } {
  let open = 0
  async function* counted(body: AsyncIterable<Uint8Array>) {
    open++
    try {
      yield* body
    } finally {
      open--
    }
  }
  return {
    open: () => open,
    async fetch(url, init) {
      const reply = await send(url, init)
      return { ...reply, body: reply.body && counted(reply.body) }
    },
  }
}

const line = (one: object) => `${JSON.stringify({ model: 'any', created_at: '2026-11-15T12:00:00Z', ...one })}\n`
const done = { done: true, done_reason: 'stop', prompt_eval_count: 12, eval_count: 3 }

/** Ollama's own format. */
export const ollama: Pick<Speech, 'say' | 'half' | 'trouble'> = {
  say(answer) {
    if ('refusal' in answer) return stream(line({ message: { role: 'assistant', content: answer.refusal }, ...done }))
    if (!('call' in answer)) {
      const words = answer.text
        .split(/(?<=\s)/)
        .map((content) => line({ message: { role: 'assistant', content }, done: false }))
      return stream([...words, line({ message: { role: 'assistant', content: '' }, ...done })].join(''))
    }
    const { tool, input } = answer.call
    const tool_calls = [{ id: 'call_1', function: { name: tool, arguments: input } }]
    return stream(
      line({ message: { role: 'assistant', content: '', tool_calls }, done: false }) + line({ message: {}, ...done }),
    )
  },
  half: (text) => line({ message: { role: 'assistant', content: text }, done: false }),
  trouble: { quota: json(402, { error: 'you have reached your hourly usage limit' }) },
}
