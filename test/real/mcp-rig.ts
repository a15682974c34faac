import type { TestContext } from 'node:test'
import type { Answer, Asked } from './model-server.ts'
import { existsSync } from 'node:fs'
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
  const settings = { metaInstruction: false, thinking: 'off', agents: [agent], mcpServers, ...more }
  machine.settings(settings)
  const env = { ANTHROPIC_API_KEY: 'made-up-key' }
  return { server, machine, settings, env, run: (...args: string[]) => machine.run(args, { env }) }
}

/** Why the servers from npm cannot be tested here; false when they can. */
export const installedServers = (): string | false =>
  existsSync(join(packages, 'server-everything'))
    ? false
    : 'the MCP servers are not installed: npm ci in test/real/clis brings them'

/** A server that a shell command starts. */
export const wrapped = (command: string) => ({ command: 'sh', args: ['-c', command] })

type Block = { type: string; text?: string; content?: string | Block[] }
type Message = { role: string; content: string | Block[] }

const blocks = ({ content }: Message): Block[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content

const messagesOf = ({ body }: Asked) => (body as { messages: Message[] }).messages

/** The last text of the person that begins so. */
export function lastTexts(asked: Asked, begins: string): string {
  const texts = messagesOf(asked).flatMap((one) => (one.role === 'user' ? blocks(one) : []))
  return texts.findLast(({ text }) => text?.startsWith(begins))?.text ?? ''
}

/** The text of the last result that a model was given. */
export function resultOf(asked: Asked): string {
  const result = messagesOf(asked)
    .flatMap(blocks)
    .findLast(({ type }) => type === 'tool_result')
  const content = result?.content ?? ''
  return typeof content === 'string' ? content : content.map(({ text = '' }) => text).join('')
}
