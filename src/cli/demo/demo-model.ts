import type { AddressInfo } from 'node:net'
import { createServer } from 'node:http'

/** The scripted model's answer to one request. */
export type ModelLine = { say: string } | { tool: string; input: object }

/** Serves a scripted model on loopback in OpenAI's chat format: each request gets the next answer. */
export async function scriptedServer(lines: readonly ModelLine[]): Promise<{ baseURL: string } & Disposable> {
  let asked = 0
  const server = createServer((request, response) => {
    // The words of a request do not matter; it is only read to its end.
    request.resume().once('end', () => {
      const line = lines[Math.min(asked++, lines.length - 1)]!
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(streamedAnswer(line, asked))
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

function streamedAnswer(line: ModelLine, count: number): string {
  const delta = 'say' in line ? { content: line.say } : { tool_calls: [calling(line, count)] }
  const choices = [{ index: 0, delta, finish_reason: 'say' in line ? 'stop' : 'tool_calls' }]
  return [JSON.stringify({ choices }), '[DONE]'].map((data) => `data: ${data}\n\n`).join('')
}

function calling({ tool, input }: { tool: string; input: object }, count: number): object {
  const called = { name: tool, arguments: JSON.stringify(input) }
  return { index: 0, id: `call_${count}`, type: 'function', function: called }
}
