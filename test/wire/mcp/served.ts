import type { Clock } from '../../../src/base/time/clock.ts'
import type { Tool, ToolCall } from '../../../src/core/work/tool.ts'
import type { ToolServerOptions } from '../../../src/wire/mcp/tool-server.ts'
import { HandClock } from '../../hand-clock.ts'

const said = { type: 'object', properties: { said: { type: 'string' } }, required: ['said'] }

const echo: Tool<{ said: string }> = {
  name: 'echo',
  description: 'Says what it was told.',
  schema: said,
  output: said,
  risk: 'read',
  parse: (input) => {
    const { said } = input as { said?: unknown }
    if (typeof said !== 'string') throw new Error('said must be a text.')
    return { said }
  },
  run: async ({ said }) => ({ text: `It was said: ${said}`, data: { said } }),
}

/** A tool that does nothing until the test lets it, and shows what it was called with. */
export class Waiter implements Tool {
  name = 'wait'
  description = 'Waits until it is let go.'
  schema = { type: 'object', properties: {} }
  risk = 'run' as const
  calls: ToolCall[] = []
  #go = Promise.withResolvers<string>()
  #called = Promise.withResolvers<ToolCall>()

  parse(input: unknown) {
    return input
  }

  async run(_input: unknown, call: ToolCall) {
    this.calls.push(call)
    this.#called.resolve(call)
    call.signal.addEventListener('abort', () => this.#go.reject(new Error('cancelled')))
    return this.#go.promise
  }

  called() {
    return this.#called.promise
  }

  letGo(words: string) {
    this.#go.resolve(words)
  }
}

export function served(waiter = new Waiter(), clock: Clock = new HandClock()): ToolServerOptions {
  return {
    name: 'termaite',
    version: '1.2.3',
    cwd: '/somewhere',
    clock,
    tools: [echo, waiter],
    resources: {
      families: [{ uri: 'test://{slot}/artifact', name: 'artifact', media: 'text/plain' }],
      list: async () => [{ uri: 'test://1/artifact', name: 'slot 1', media: 'text/plain', bytes: 5 }],
      read: async (uri) => (uri === 'test://1/artifact' ? { media: 'text/plain', text: 'hello' } : undefined),
    },
  }
}

export const listedTools = [
  {
    name: 'echo',
    description: 'Says what it was told.',
    inputSchema: said,
    outputSchema: said,
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  {
    name: 'wait',
    description: 'Waits until it is let go.',
    inputSchema: { type: 'object', properties: {} },
    annotations: { readOnlyHint: false, destructiveHint: true },
  },
]
