import type { WorkMode } from '../core/work/mode.ts'
import type { Settings } from './settings.ts'
import { UsageError } from '../core/io.ts'

/** What can be chosen on the command line and at the desk, and what it means. */
export const workModes: Readonly<Record<WorkMode, string>> = {
  chat: 'the agents take turns in one conversation',
  agent: 'our own agents alone take the turns',
  plan: 'our own agents alone look around and plan; nothing is changed and nothing is run',
}

/** The settings as a mode has them; a planner is held by the policy as well as by its tools. */
export function inMode(settings: Settings, mode: WorkMode): Settings {
  if (mode === 'chat') return settings
  const agents = settings.agents.filter(({ kind }) => kind === 'native')
  if (!agents.some(({ enabled }) => enabled !== false))
    throw new UsageError(
      `the mode ${mode} needs an agent of the kind "native", and none is switched on: termaite config edit`,
    )
  const { permissions } = settings
  const held = mode === 'plan' ? 'plan' : permissions.mode === 'plan' ? 'default' : permissions.mode
  return { ...settings, agents, permissions: { ...permissions, mode: held } }
}
