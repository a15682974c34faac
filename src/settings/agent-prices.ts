import type { AgentSettings } from './agent-settings.ts'
import { knownOf } from '../models/model-windows.ts'
import { defaultModel, modelName, providerOf } from '../models/provider.ts'
import { profileOf } from './agent-settings.ts'

/** Whether the cost of an agent's answers is known: reported or by the price list, free on this machine, or not at all. */
export function priceKnowledge(agent: AgentSettings): 'known' | 'free' | 'unknown' {
  if (agent.kind !== 'native') {
    const profile = profileOf(agent)
    const speaks = agent.command === undefined || profile?.speaks(agent.command) === true
    return agent.kind === 'pipe' && profile?.reportsCost && speaks ? 'known' : 'unknown'
  }
  const named = modelName(agent.model ?? defaultModel)
  if ('wrong' in named) return 'unknown'
  const { local, reportsCost } = providerOf(named.provider)
  if (local) return 'free'
  return reportsCost || knownOf(named.provider, named.model).price ? 'known' : 'unknown'
}
