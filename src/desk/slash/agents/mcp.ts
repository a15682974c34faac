import type { Command, CommandWorld } from '../../../core/talk/command.ts'
import type { McpServers } from '../../../native/tools/mcp/remote-servers.ts'
import type { DeskControls } from '../../desk-controls.ts'
import { mcpPromptsText, mcpResourcesText, mcpText, mcpToolsText } from '../../../native/tools/mcp/server-status.ts'
import { UsageError } from '../../../core/io.ts'
import { personServers } from '../../../native/person-servers.ts'
import { block } from '../shared/code-block.ts'
import { goingOn, knownWord } from '../shared/choice.ts'
import { isTrusted, nativeAgent } from '../shared/native-agent.ts'

const ways = ['status', 'tools', 'resources', 'prompts', 'refresh', 'login'] as const

/** How long to wait for the lists of resources and prompts. */
const listMs = 5_000

/** Shows the MCP servers of termaite's own agent. Showing them starts them. */
export function mcpCommand(controls: DeskControls): Command {
  return {
    name: 'mcp',
    words: '[status|tools|resources|prompts|refresh|login <server>]',
    help: 'Show or restart the MCP servers, or log in to one.',
    complete: (typed) => goingOn(typed, ways),
    async run(args, world) {
      const [typed = 'status', ...more] = args.split(/\s+/).filter((word) => word !== '')
      const way = knownWord('subcommand', typed, ways)
      if (more.length > 0 && way !== 'login') throw new UsageError(`/mcp ${way} takes no further words.`)
      nativeAgent(controls)
      const app = controls.app()
      const mine = personServers(app)
      const servers = await (way === 'refresh' ? mine.refresh() : mine.open())
      if (!servers) return world.say(noneWords(await isTrusted(app)), 'note')
      if (way === 'login') await login(servers, more.join(' '), world)
      else await settled(servers, world)
      if (world.signal.aborted) return
      // The lists are read before the status counts them, but a server that does not send its list does not block the command.
      const lists = await Promise.race([servers.listed(), app.io.clock.sleep(listMs, world.signal).then(() => [])])
      const now = app.io.clock.now()
      const words = {
        tools: () => mcpToolsText(servers.status(), now),
        resources: () =>
          mcpResourcesText(lists.filter(({ resources, templates }) => resources.length + templates.length > 0)),
        prompts: () => mcpPromptsText(lists.filter(({ prompts }) => prompts.length > 0)),
        other: () => mcpText(servers.status(), now),
      }
      world.say(block(words[way === 'tools' || way === 'resources' || way === 'prompts' ? way : 'other']()), 'text')
    },
  }
}

async function settled(servers: McpServers, { say, signal }: CommandWorld): Promise<void> {
  const starting = servers.status().servers.filter(({ state }) => state === 'starting')
  if (starting.length > 0) say(`Starting ${starting.map(({ name }) => name).join(', ')}…`, 'note')
  await servers.settled(signal)
}

async function login(servers: McpServers, typed: string, { say, signal }: CommandWorld): Promise<void> {
  const names = servers.status().servers.map(({ name }) => name)
  if (typed === '')
    throw new UsageError(`the name of the server is missing. Type /mcp login and one of: ${names.join(', ')}.`)
  const name = knownWord('MCP server', typed, names)
  await servers.login(name, async (url) => say(`Log in to ${name} in a browser: ${url}`, 'text'), signal)
}

function noneWords(trusted: boolean): string {
  const words =
    'No MCP server is configured. Add servers to .mcp.json, termaite.mcp.yaml or the settings, then type /mcp refresh.'
  return trusted ? words : `${words} The servers of this folder are used only after you trust it: type /trust.`
}
