import type { Profile } from '../core/screen/profile.ts'
import type { AgentSettings } from './settings/settings.ts'
import { profileOf } from './roster.ts'

/** How an agent is reached, in words; what matters to a person is whether it can ask. */
export function channelWords(agent: AgentSettings): string {
  const profile = profileOf(agent)
  if (agent.kind === 'acp') return agent.command === undefined ? 'ACP, asks' : 'ACP, own command'
  if (agent.command !== undefined) return 'own command'
  return profile && asksItself(profile) ? 'its own stream, asks' : 'one-way pipe'
}

/** Whether a CLI's own stream can ask before it acts. */
export function asksItself(profile: Profile): boolean {
  return profile.dialect?.().asks === true
}
