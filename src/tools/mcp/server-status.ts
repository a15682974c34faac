import type { McpServer } from './mcp-server.ts'
import { stripAnsi } from '../../base/ansi.ts'
import { seconds } from './server-lifecycle.ts'

/** A server as a person is shown it: no variable's value, no header, no key. */
export type ServerStatus = {
  name: string
  from: string
  /** Its command or address as it was written. */
  at: string
  state: 'starting' | 'ready' | 'waiting' | 'login' | 'failed' | 'closed'
  why?: string
  /** When it is tried again by itself. */
  next?: number
  /** The version of the protocol that is spoken, and who speaks it. */
  protocol?: string
  speaker?: string
  tools: { name: string; tool: string; description: string }[]
  /** Whether a model is given its tools directly. */
  direct: boolean
  /** The last of what it wrote about itself. */
  output: string
}

/** All servers, and what was wrong with their configuration. */
export type McpStatus = { servers: ServerStatus[]; warnings: readonly string[] }

/** `names` are those its tools are called by; what a server says of itself is text, and moves no cursor. */
export function statusOf(server: McpServer, names: readonly string[], direct: boolean): ServerStatus {
  const { config, state, output } = server
  const client = state.is === 'ready' ? state.connection.client : undefined
  const protocol = client?.getNegotiatedProtocolVersion()
  const speaker = client?.getServerVersion()
  return {
    name: config.name,
    from: config.from,
    at: config.shown,
    state: state.is,
    ...('why' in state ? { why: state.why } : {}),
    ...('next' in state ? { next: state.next } : {}),
    ...(protocol ? { protocol } : {}),
    ...(speaker ? { speaker: stripAnsi(`${speaker.name} ${speaker.version}`) } : {}),
    tools: server.tools.map((tool, i) => ({
      name: names[i]!,
      tool: stripAnsi(tool.name),
      description: stripAnsi(tool.description ?? tool.title ?? '')
        .trim()
        .split('\n')[0]!,
    })),
    direct,
    output,
  }
}

const marks = { ready: '●', starting: '○', waiting: '◌', login: '◌', failed: '✗', closed: '✗' } as const

/** `/mcp`: what is configured, how it is, and what is wrong. */
export function mcpText({ servers, warnings }: McpStatus, now: number): string {
  const lines = servers.flatMap((server) => [
    `${marks[server.state]} ${server.name}  ${stateText(server, now)}`,
    `    ${server.at}  (${server.from})`,
    ...lastSaid(server).map((line) => `    | ${line}`),
  ])
  const none = 'No MCP server is configured: .mcp.json, termaite.mcp.yaml or mcpServers in the settings name them.'
  return [...(servers.length === 0 ? [none] : lines), ...warnings.map((words) => `! ${words}`)].join('\n')
}

/** `/mcp tools`: by server. */
export function mcpToolsText({ servers }: McpStatus, now: number): string {
  const blocks = servers.map((server) => {
    const tools = server.tools.map(
      ({ name, description }) => `  ${name}${description ? `  ${brief(description)}` : ''}`,
    )
    const how = server.state === 'ready' && !server.direct ? '; called through mcp_call' : ''
    return [`${server.name}  ${stateText(server, now)}${how}`, ...tools].join('\n')
  })
  return blocks.join('\n\n') || 'No MCP server is configured.'
}

function stateText(server: ServerStatus, now: number): string {
  const { state, why, next, tools, protocol, speaker } = server
  switch (state) {
    case 'ready': {
      const count = `${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}`
      return [`connected, ${count}`, speaker, protocol && `MCP ${protocol}`].filter(Boolean).join(', ')
    }
    case 'waiting':
      return `not running: ${why}; again in ${seconds((next ?? now) - now)} s`
    case 'login':
      return `wants a login: /mcp login ${server.name}`
    case 'failed':
      return `failed: ${why}`
    default:
      return state
  }
}

/** Only of one that is in trouble: the others' chatter helps nobody. */
function lastSaid({ state, output }: ServerStatus): string[] {
  if (state === 'ready' || state === 'starting' || output === '') return []
  return output.split('\n').slice(-5)
}

const brief = (text: string) => (text.length <= 100 ? text : `${text.slice(0, 99)}…`)
