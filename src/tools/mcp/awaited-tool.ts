import type { Tool } from '../../core/work/tool.ts'
import type { Server } from './server.ts'
import { absence } from './absence.ts'

/** A tool that a resumed session knows from before, and its server has not named yet: it is waited for when it is called. */
export function awaitedTool(server: Server, name: string, listed: () => Tool | undefined, now: () => number): Tool {
  return {
    name,
    description: `A tool of the MCP server ${server.config.name}, which is not connected yet.`,
    schema: { type: 'object', properties: {} },
    risk: 'run',
    parse: (input) => input,
    async run(input, call) {
      const state = await server.settled(call.signal)
      if (state.is !== 'ready') throw new Error(absence(server.config.name, state, now()))
      const tool = listed()
      if (!tool) throw new Error(`the MCP server ${server.config.name} has no such tool any more; see mcp_tools`)
      return tool.run(tool.parse(input), call)
    },
  }
}
