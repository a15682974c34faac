import type { Profile } from '../core/work/profile.ts'
import type { AgentSettings } from './settings.ts'
import { defaultModel, modelName, providerOf } from '../models/provider.ts'
import { profileFor, profileNamed } from '../profiles/all.ts'

export function profileOf(agent: AgentSettings): Profile | undefined {
  if (agent.kind === 'native') return undefined
  if (agent.profile !== undefined) return profileNamed(agent.profile)
  return agent.command === undefined ? undefined : profileFor(agent.command)
}

/** Who learns what an agent is told, where that is known. */
export function vendorOf(agent: AgentSettings): string | undefined {
  if (agent.kind !== 'native') return profileOf(agent)?.vendor
  const named = modelName(agent.model ?? defaultModel)
  return 'wrong' in named ? undefined : providerOf(named.provider).label
}
