import type { Command, CommandWorld } from '../../core/talk/command.ts'
import type { McpServers } from '../../tools/mcp/remote-servers.ts'
import type { App } from '../../app/app.ts'
import type { Leash } from '../../core/work/agent.ts'
import type { DeskControls } from '../desk-controls.ts'
import { mcpText, mcpToolsText } from '../../tools/mcp/server-status.ts'
import { UsageError } from '../../core/io.ts'
import { withFolderSettings } from '../../app/native/native-trust.ts'
import { refreshedServers, serversOf } from '../../app/native/native-servers.ts'
import { block } from './code-block.ts'
import { goingOn, knownWord } from './choice.ts'
import { isTrusted, nativeAgent } from './native-agent.ts'

const ways = ['status', 'tools', 'refresh', 'login'] as const

/** Shows the MCP servers of termaite's own agent. Asking for them starts them. */
export function mcpCommand(controls: DeskControls): Command {
  return {
    name: 'mcp',
    words: '[status|tools|refresh]',
    help: 'Show or restart the MCP servers.',
    complete: (typed) => goingOn(typed, ways),
    async run(args, world) {
      const [typed = 'status', ...more] = args.split(/\s+/).filter((word) => word !== '')
      const way = knownWord('subcommand', typed, ways)
      if (more.length > 0 && way !== 'login') throw new UsageError(`nothing follows /mcp ${way}.`)
      nativeAgent(controls)
      const app = controls.app()
      const trusted = await isTrusted(app)
      const servers = await opened(app, controls.standing().leash, trusted, way === 'refresh')
      if (!servers) return world.say(noneWords(trusted), 'note')
      if (way === 'login') await login(servers, more.join(' '), world)
      else await settled(servers, world)
      if (world.signal.aborted) return
      const words = way === 'tools' ? mcpToolsText : mcpText
      world.say(block(words(servers.status(), app.io.clock.now())), 'text')
    },
  }
}

async function opened(app: App, leash: Leash, trusted: boolean, anew: boolean): Promise<McpServers | undefined> {
  const { native } = app
  const { settings } = trusted ? await withFolderSettings(app.settings, native) : app
  const wishes = { settings, leash, trusted }
  return anew ? refreshedServers(native, wishes) : serversOf(native, wishes)
}

async function settled(servers: McpServers, { say, signal }: CommandWorld): Promise<void> {
  const starting = servers.status().servers.filter(({ state }) => state === 'starting')
  if (starting.length > 0) say(`Starting ${starting.map(({ name }) => name).join(', ')}…`, 'note')
  await servers.settled(signal)
}

async function login(servers: McpServers, typed: string, { say, signal }: CommandWorld): Promise<void> {
  const names = servers.status().servers.map(({ name }) => name)
  if (typed === '') throw new UsageError(`whose login? /mcp login ${names.join(' or ')}.`)
  const name = knownWord('MCP server', typed, names)
  await servers.login(name, async (url) => say(`Log in to ${name} in a browser: ${url}`, 'text'), signal)
}

function noneWords(trusted: boolean): string {
  const words =
    'No MCP server is configured. Add servers to .mcp.json, termaite.mcp.yaml or the settings, then type /mcp refresh.'
  return trusted ? words : `${words} The servers of this folder are used only after you trust it: type /trust.`
}
