import type { AddressInfo } from 'node:net'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

/** What the scripted model answers to one request. */
export type Line = { say: string } | { tool: string; input: object }

/** A model on loopback that says its lines one after another, in the words of OpenAI's chat format. */
export async function scriptedServer(lines: readonly Line[]): Promise<{ baseURL: string } & Disposable> {
  let asked = 0
  const server = createServer((request, response) => {
    void text(request).finally(() => {
      const line = lines[Math.min(asked++, lines.length - 1)]!
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(streamed(line, asked))
    })
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  return {
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    [Symbol.dispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}

function streamed(line: Line, count: number): string {
  const delta = 'say' in line ? { content: line.say } : { tool_calls: [calling(line, count)] }
  const choices = [{ index: 0, delta, finish_reason: 'say' in line ? 'stop' : 'tool_calls' }]
  return [JSON.stringify({ choices }), '[DONE]'].map((data) => `data: ${data}\n\n`).join('')
}

function calling({ tool, input }: { tool: string; input: object }, count: number): object {
  const called = { name: tool, arguments: JSON.stringify(input) }
  return { index: 0, id: `call_${count}`, type: 'function', function: called }
}
