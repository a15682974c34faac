import type { Tool } from '../core/work/tool.ts'
import type { CrewDesk } from './tools/desk.ts'
import { getArtifact } from './tools/get-artifact.ts'
import { killAgent } from './tools/kill-agent.ts'
import { listAgents } from './tools/list-agents.ts'
import { readFromAgent } from './tools/read-from-agent.ts'
import { sendToAgent } from './tools/send-to-agent.ts'
import { spawnAgent } from './tools/spawn-agent.ts'
import { waitForIdle } from './tools/wait-for-idle.ts'

export type { CrewDesk } from './tools/desk.ts'

/** What a conductor does with a crew: published over MCP, and handed to our own agent. */
export function crewTools(desk: CrewDesk): Tool[] {
  return [spawnAgent, sendToAgent, readFromAgent, waitForIdle, listAgents, killAgent, getArtifact].map((tool) =>
    tool(desk),
  )
}
