import type { TestContext } from 'node:test'
import type { Answer, Asked } from './model-server.ts'
import { join } from 'node:path'
import { Machine } from '../cli/program.ts'
import { modelServer } from './model-server.ts'

const packages = join(import.meta.dirname, 'clis', 'node_modules', '@modelcontextprotocol')

/** The MCP servers from npm, as they are configured in the settings. */
export const everything = {
  command: process.execPath,
  args: [join(packages, 'server-everything/dist/index.js'), 'stdio'],
}

export const filesystem = (...folders: string[]) => ({
  command: process.execPath,
  args: [join(packages, 'server-filesystem/dist/index.js'), ...folders],
})

/** The built program with our own agent on a scripted model, and MCP servers from npm. */
export async function withServers(
  t: TestContext,
  mcpServers: Record<string, unknown>,
  script: (asked: Asked) => Answer,
  more: Record<string, unknown> = {},
) {
  const server = await modelServer(script)
  t.after(() => server.close())
  const machine = new Machine(t)
  const agent = {
    name: 'native',
    kind: 'native',
    model: 'anthropic/claude-sonnet-4-5',
    baseURL: `${server.url}/v1`,
    contextWindowTokens: 200_000,
  }
  machine.settings({ metaInstruction: false, thinking: 'off', agents: [agent], mcpServers, ...more })
  const env = { ANTHROPIC_API_KEY: 'made-up-key' }
  return { server, machine, env, run: (...args: string[]) => machine.run(args, { env }) }
}

/** The texts of the last user message that a model was sent. */
export function lastTexts({ body }: Asked): string[] {
  const { messages } = body as { messages: { role: string; content: string | { type: string; text?: string }[] }[] }
  const { content } = messages.findLast(({ role }) => role === 'user')!
  return typeof content === 'string'
    ? [content]
    : content.flatMap(({ type, text }) => (type === 'text' ? [text!] : [type]))
}
