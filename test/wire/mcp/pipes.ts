import { PassThrough } from 'node:stream'
import { createInterface } from 'node:readline'
import { loadMcpLibrary, toolServer } from '../../../src/wire/mcp/tool-server.ts'
import type { ToolServerOptions } from '../../../src/wire/mcp/tool-server.ts'
import { serveMcpStdio } from '../../../src/wire/mcp/mcp-stdio.ts'

export type Message = { id?: number; method?: string; params?: unknown; result?: unknown; error?: unknown }

/** A client that speaks the wire itself: what it asserts is what other programs meet. */
export async function overPipes(served: ToolServerOptions) {
  const [input, out, stop] = [new PassThrough(), new PassThrough(), new AbortController()]
  const troubles: string[] = []
  const trouble = (error: Error) => void troubles.push(error.message)
  const over = serveMcpStdio(toolServer(await loadMcpLibrary(), served), {
    in: input,
    out,
    signal: stop.signal,
    trouble,
  })
  const lines = createInterface({ input: out })[Symbol.asyncIterator]()
  const send = (message: object) => input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const hear = async (): Promise<Message> => {
    const { jsonrpc: _, ...message } = JSON.parse((await lines.next()).value!) as Message & { jsonrpc: string }
    return message
  }
  return {
    send,
    hear,
    input,
    out,
    over,
    troubles,
    stop: () => stop.abort(143),
    async ask(message: object) {
      send(message)
      return hear()
    },
  }
}

/** The greeting of the older protocol. */
export const initialize = {
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
}

/** The fields that every request of the newer protocol carries. */
export const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
}
