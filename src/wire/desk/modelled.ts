import type { AgentSettings } from '../settings/settings.ts'
import { defaultModel, modelName } from '../../models/provider.ts'

/** `window`: how much the model takes, where that is known. */
export type ModelChoice = { model: string; window?: number }

/** An agent with the model that was chosen for it: another provider gets neither the address nor the key of its own one. */
export function modelled(agent: AgentSettings, choice: ModelChoice | undefined): AgentSettings {
  const own = agent.model ?? defaultModel
  if (!choice || choice.model === own) return agent
  const { baseURL, apiKeyEnv, ...rest } = agent
  const stays = providerIn(choice.model) === providerIn(own)
  return {
    ...rest,
    ...(stays && baseURL !== undefined ? { baseURL } : {}),
    ...(stays && apiKeyEnv !== undefined ? { apiKeyEnv } : {}),
    ...(choice.window === undefined ? {} : { contextWindowTokens: choice.window }),
    model: choice.model,
  }
}

export function providerIn(model: string): string | undefined {
  const named = modelName(model)
  return 'wrong' in named ? undefined : named.provider
}
