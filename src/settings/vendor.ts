import type { Profile } from '../core/work/profile.ts'
import type { FileSettings } from './schema.ts'
import { defaultModel, modelName, providerOf } from '../models/provider.ts'
import { profileFor, profileNamed } from '../profiles/all.ts'

type Agent = NonNullable<FileSettings['agents']>[number]

export function profileOf(agent: Agent): Profile | undefined {
  if (agent.profile === undefined) return agent.command === undefined ? undefined : profileFor(agent.command)
  return profileNamed(agent.profile)
}

/** Who learns what an agent is told, where that is known. */
export function vendorOf(agent: Agent): string | undefined {
  if (agent.kind !== 'native') return profileOf(agent)?.vendor
  const named = modelName(agent.model ?? defaultModel)
  return 'wrong' in named ? undefined : providerOf(named.provider).label
}
