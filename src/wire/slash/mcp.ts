import type { Command } from '../../core/talk/command.ts'
import type { McpStatus, Servers } from '../../tools/mcp/servers.ts'
import type { ServerStatus } from '../../tools/mcp/status.ts'
import type { App } from '../app.ts'
import type { Hold } from '../desk/hold.ts'
import { moment } from '../../base/moment.ts'
import { refreshedServers, serversOf } from '../native/servers.ts'
import { oneLine, table } from '../table.ts'
import { block } from './block.ts'
import { goingOn, knownWord } from './choose.ts'
import { isTrusted, nativeAgent } from './native.ts'

const ways = ['status', 'tools', 'refresh'] as const

/** The MCP servers of termaite's own agent; whoever asks for them starts them. */
export function mcpCommand(hold: Hold): Command {
  return {
    name: 'mcp',
    words: '[status|tools|refresh]',
    help: 'The MCP servers of termaite’s own agent and their tools; or start them anew.',
    complete: (typed) => goingOn(typed, ways),
    async run(args, { say, signal }) {
      const way = args.trim() === '' ? 'status' : knownWord('way', args.trim(), ways)
      nativeAgent(hold)
      const app = hold.app()
      const trusted = await isTrusted(app)
      const servers = await opened(app, trusted, way === 'refresh')
      if (!servers) return say(noneWords(trusted), 'note')
      const starting = servers.status().servers.filter(({ state }) => state === 'starting')
      if (starting.length > 0) say(`Starting ${starting.map(({ name }) => name).join(', ')}…`, 'note')
      await servers.settled(signal)
      if (!signal.aborted) say(way === 'tools' ? toolsText(servers.status()) : statusText(servers.status()), 'text')
    },
  }
}

function opened({ native, settings }: App, trusted: boolean, anew: boolean): Promise<Servers | undefined> {
  const wishes = { settings: settings.mcpServers, trusted, after: Promise.resolve() }
  return anew ? refreshedServers(native, wishes) : serversOf(native, wishes)
}

function noneWords(trusted: boolean): string {
  const words =
    'No MCP server is configured: name them in .mcp.json, termaite.mcp.yaml or the settings, then /mcp refresh.'
  return trusted ? words : `${words} What this folder brings is not used before it is trusted (/trust).`
}

function statusText({ servers, warnings }: McpStatus): string {
  const rows = servers.map((server) => [
    server.name,
    stateWords(server),
    String(server.tools.length),
    server.protocol ?? '',
    server.from,
  ])
  return [
    ...(rows.length > 0 ? [block(table([['SERVER', 'STATE', 'TOOLS', 'PROTOCOL', 'FROM'], ...rows]))] : []),
    ...servers.filter(({ why }) => why !== undefined).map(({ name, why }) => `- ${name}: ${oneLine(why!, 300)}`),
    ...warnings.map((words) => `- ${words}`),
  ].join('\n')
}

function stateWords({ state, next }: ServerStatus): string {
  return next === undefined ? state : `${state} until ${moment(next)}`
}

function toolsText({ servers }: McpStatus): string {
  const lines = servers.flatMap((server) => [
    `${server.name} (${stateWords(server)}, ${server.direct ? 'given to the model' : 'by mcp_tools and mcp_call'})`,
    ...(server.tools.length === 0 ? ['  no tools'] : []),
    ...server.tools.map(
      ({ name, description }) => `  ${name}${description === '' ? '' : `: ${oneLine(description, 100)}`}`,
    ),
  ])
  return block(lines.join('\n'))
}
