import type { Tool } from '../../core/work/tool.ts'
import type { CrewDesk } from './crew-desk.ts'
import { getArtifact } from './get-artifact.ts'
import { killAgent } from './kill-agent.ts'
import { listAgents } from './list-agents.ts'
import { readFromAgent } from './read-from-agent.ts'
import { sendToAgent } from './send-to-agent.ts'
import { spawnAgent } from './spawn-agent.ts'
import { waitForIdle } from './wait-for-idle.ts'

/** The tools of a model that coordinates a crew, published over MCP and given to the native agent. */
export function crewTools(desk: CrewDesk): Tool[] {
  return [spawnAgent, sendToAgent, readFromAgent, waitForIdle, listAgents, killAgent, getArtifact].map((tool) =>
    tool(desk),
  )
}
