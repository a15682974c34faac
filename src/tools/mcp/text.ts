import type { McpStatus } from './servers.ts'
import type { ServerStatus } from './status.ts'
import { seconds } from './absence.ts'

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
function lastSaid({ state, said }: ServerStatus): string[] {
  if (state === 'ready' || state === 'starting' || said === '') return []
  return said.split('\n').slice(-5)
}

const brief = (text: string) => (text.length <= 100 ? text : `${text.slice(0, 99)}…`)
