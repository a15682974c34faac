import type { WorkMode } from '../core/work/agent.ts'
import type { Settings } from './settings.ts'
import { UsageError } from '../core/io.ts'

/** The modes a user can choose, with their meaning. */
export const workModes: Readonly<Record<WorkMode, string>> = {
  chat: 'all agents take turns in one conversation',
  agent: 'only termaite’s own agents take turns',
  plan: 'only termaite’s own agents, and they plan: they change nothing and run nothing',
  coordinator: 'one agent sends workers that work at the same time, in a conversation of its own',
}

/** Restricts the settings to a mode. In plan mode the permission policy refuses writes, and the tools for writing are missing too. */
export function inMode(settings: Settings, mode: WorkMode): Settings {
  if (mode === 'chat') return settings
  // Any agent can be a worker.
  const agents = mode === 'coordinator' ? settings.agents : settings.agents.filter(({ kind }) => kind === 'native')
  if (!agents.some(({ enabled }) => enabled !== false))
    throw new UsageError(
      `the mode ${mode} needs an enabled agent${mode === 'coordinator' ? '' : ' of the kind "native"'}. Add or enable one with: termaite config edit`,
    )
  const { permissions } = settings
  const held = mode === 'plan' ? 'plan' : permissions.mode === 'plan' ? 'default' : permissions.mode
  return { ...settings, agents, permissions: { ...permissions, mode: held } }
}
