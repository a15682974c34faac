import type { Tool } from '../../core/work/tool.ts'
import type { Input } from './remote-tool.ts'
import type { Server } from './server.ts'
import { textBeside } from '../../base/text-beside.ts'
import { absence } from './absence.ts'
import { isMap } from './check.ts'
import { remoteNamed, serverNamed } from './look.ts'
import { toolName } from './names.ts'
import { parseFor } from './remote-tool.ts'

export type Reach = { server: string; tool: string; input: Input }

export const reachName = 'mcp_call'

/** One fixed tool for all that came after the frame was frozen. */
export function reachTool(servers: () => readonly Server[], now: () => number): Tool {
  const tool: Tool<Reach> = {
    name: reachName,
    description: textBeside('tools/mcp/mcp_call.md').trim(),
    schema: {
      type: 'object',
      properties: { server: { type: 'string' }, tool: { type: 'string' }, input: { type: 'object' } },
      required: ['server', 'tool', 'input'],
      additionalProperties: false,
    },
    risk: 'run',
    parse(input) {
      if (!isMap(input)) throw new Error('the input must be an object with server, tool and input.')
      const { server: name, tool, input: given = {} } = input
      if (typeof name !== 'string' || typeof tool !== 'string') throw new Error('server and tool must be text.')
      const server = serverNamed(name, servers())
      // While it is away nobody knows its tools: the call itself says so.
      if (server.state.is !== 'ready') return { server: name, tool, input: parseFor(anything(tool), given) }
      const remote = remoteNamed(server, tool)
      return { server: name, tool: remote.name, input: parseFor(remote, given) }
    },
    async run({ server: name, tool, input }, call) {
      const server = serverNamed(name, servers())
      const state = await server.settled(call.signal)
      if (state.is !== 'ready') throw new Error(absence(name, state, now()))
      const remote = remoteNamed(server, tool)
      return server.call(remote.name, parseFor(remote, input), call)
    },
  }
  return tool as Tool
}

/** The name by which a rule allows what `mcp_call` is asked to do: the same as if the tool were called itself. */
export function reached(input: unknown): string | undefined {
  if (!isMap(input) || typeof input.server !== 'string' || typeof input.tool !== 'string') return undefined
  return toolName(input.server, input.tool)
}

const anything = (name: string) => ({ name, inputSchema: { type: 'object' as const } })
