import type { Leash } from '../core/work/agent.ts'
import type { AgentSettings, NativeAgentSettings, Settings } from './settings.ts'
import { leashes } from '../core/work/agent.ts'
import { modelWindow, unknownWindow } from '../models/windows.ts'
import { profileOf } from './vendor.ts'

/** The agents that are switched on, in the order of the settings. */
export function enabledAgents(settings: Settings): AgentSettings[] {
  return settings.agents.filter((agent) => agent.enabled !== false)
}

/** The enabled agents that are termaite's own. */
export function nativeAgents(settings: Settings): NativeAgentSettings[] {
  return enabledAgents(settings).filter((agent) => agent.kind === 'native')
}

export function windowOf(agent: AgentSettings): number {
  if (agent.kind === 'native') return agent.contextWindowTokens ?? modelWindow(agent.model)
  return agent.contextWindowTokens ?? profileOf(agent)?.window ?? unknownWindow
}

/** The window that the shared view must fit: agents with a view of their own do not count. */
export function smallestWindow(settings: Settings): number {
  const windows = enabledAgents(settings)
    .filter((agent) => !agent.ownView)
    .map(windowOf)
  return windows.length ? Math.min(...windows) : unknownWindow
}

/** What the loosest of them may do: within a turn's leash each is held to its own. */
export function loosestLeash(settings: Settings): Leash {
  const own = enabledAgents(settings).map((agent) => agent.leash ?? settings.leash)
  return leashes.findLast((leash) => own.includes(leash)) ?? settings.leash
}
