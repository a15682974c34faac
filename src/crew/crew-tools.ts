import type { Tool } from '../core/work/tool.ts'
import type { CrewDesk } from './tools/crew-desk.ts'
import { getArtifact } from './tools/get-artifact.ts'
import { killAgent } from './tools/kill-agent.ts'
import { listAgents } from './tools/list-agents.ts'
import { readFromAgent } from './tools/read-from-agent.ts'
import { sendToAgent } from './tools/send-to-agent.ts'
import { spawnAgent } from './tools/spawn-agent.ts'
import { waitForIdle } from './tools/wait-for-idle.ts'

/** The tools of a model that coordinates a crew: published over MCP, and handed to the native agent. */
export function crewTools(desk: CrewDesk): Tool[] {
  return [spawnAgent, sendToAgent, readFromAgent, waitForIdle, listAgents, killAgent, getArtifact].map((tool) =>
    tool(desk),
  )
}
