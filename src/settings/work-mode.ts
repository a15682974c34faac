import type { WorkMode } from '../core/work/agent.ts'
import type { Settings } from './settings.ts'
import type { AgentSettings } from './agent-settings.ts'
import { UsageError } from '../core/io.ts'
import { keepsOwnFlags } from './enabled-agents.ts'

/** The modes a user can choose, with their meaning. */
export const workModes: Readonly<Record<WorkMode, string>> = {
  chat: 'all agents take turns in one conversation',
  agent: 'only termaite’s own agents take turns',
  plan: 'all agents take turns, and they plan: they read, and change nothing',
  coordinator: 'one agent sends workers that work at the same time, in a conversation of its own',
}

/**
 * Restricts the settings to a mode. In plan mode the permission policy of our own agents refuses writes, and the tools for writing are
 * missing too; every other agent has the leash `read`.
 */
export function inMode(settings: Settings, mode: WorkMode): Settings {
  if (mode === 'chat') return settings
  const agents = mode === 'agent' ? settings.agents.filter(({ kind }) => kind === 'native') : settings.agents
  if (!agents.some(({ enabled }) => enabled !== false))
    throw new UsageError(
      `the mode ${mode} needs an enabled agent${mode === 'agent' ? ' of the kind "native"' : ''}. Add or enable one with: termaite config edit`,
    )
  const { permissions } = settings
  if (mode === 'plan')
    return { ...settings, agents: agents.map(planning), plans: true, permissions: { ...permissions, mode } }
  const held = permissions.mode === 'plan' ? 'default' : permissions.mode
  return { ...settings, agents, permissions: { ...permissions, mode: held } }
}

/** An agent that only plans. A command that runs as the person wrote it needs a sandbox, because its flags may let it change files. */
function planning(agent: AgentSettings): AgentSettings {
  if (agent.kind === 'native') return agent
  const held = { ...agent, leash: 'read' as const }
  return keepsOwnFlags(held, 'read') ? { ...held, wall: true } : held
}
