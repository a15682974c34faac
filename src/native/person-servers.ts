import type { McpServers } from './tools/mcp/remote-servers.ts'
import type { Settings } from '../settings/settings.ts'
import type { NativeParts } from './native-parts.ts'
import { leashOf, nativeAgents } from '../settings/enabled-agents.ts'

/**
 * The MCP servers that a person names in a prompt, whichever agent takes the turn. A project's servers can be used once the project is
 * trusted.
 */
export type PersonServers = {
  /** The names of the configured servers; does not start any. */
  names(): Promise<string[]>
  /** Starts the servers, unless they already run; undefined if none is configured. */
  open(): Promise<McpServers | undefined>
  /** Stops the servers and starts those that are configured now. */
  refresh(): Promise<McpServers | undefined>
  /** Says why there is no server of this name, and what to do. */
  missing(name: string): Promise<string>
}

/** The code for servers is loaded on demand, because few prompts name a server. */
const servers = () => import('./native-servers.ts')

type PersonServersParts = { native: NativeParts; settings: Settings }

export function personServers({ native, settings: own }: PersonServersParts): PersonServers {
  // The sandbox of our own agent, so that its first turn need not restart the servers in a different sandbox.
  const leash = leashOf(own, nativeAgents(own)[0])
  const options = async () => {
    const { isFolderTrusted, withFolderSettings } = await import('./native-trust.ts')
    const trusted = await isFolderTrusted(native)
    const { settings } = trusted ? await withFolderSettings(own, native) : { settings: own }
    return { settings, leash, trusted }
  }
  const names = async () => {
    const { configuredServers } = await servers()
    return ((await configuredServers(native, await options()))?.servers ?? []).map(({ name }) => name)
  }
  return {
    names,
    async open() {
      const { state } = native
      const wanted = await options()
      // Running servers stay as they are: a turn decides about the wall around them.
      if (state.mcp.servers && state.mcp.seat?.trusted === wanted.trusted) return state.mcp.servers
      return (await servers()).serversOf(native, wanted)
    },
    refresh: async () => (await servers()).refreshedServers(native, await options()),
    async missing(name) {
      const [known, { trusted }, { hasServerFile }] = [await names(), await options(), await servers()]
      const have = known.length === 0 ? 'no MCP server is configured' : `the configured servers are ${known.join(', ')}`
      const untrusted =
        !trusted && hasServerFile(native)
          ? '. The servers of this folder are used only after you trust it: type /trust, or run termaite trust'
          : ''
      return `there is no MCP server ${name}; ${have}${untrusted}`
    },
  }
}
