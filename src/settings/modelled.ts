import type { AgentSettings } from './settings.ts'
import type { Effort } from '../models/provider.ts'
import { defaultModel, modelName } from '../models/provider.ts'

/** `window`: how much the model takes, where that is known. `effort`: how hard it thinks, where that was said. */
export type ModelChoice = { model: string; window?: number; effort?: Effort }

/** An agent with the model that was chosen for it: another provider gets neither the address nor the key of its own one. */
export function modelled(agent: AgentSettings, choice: ModelChoice | undefined): AgentSettings {
  const own = agent.model ?? defaultModel
  if (!choice) return agent
  const thinks = choice.effort === undefined ? {} : { effort: choice.effort }
  if (choice.model === own) return { ...agent, ...thinks }
  const { baseURL, apiKeyEnv, ...rest } = agent
  const stays = providerIn(choice.model) === providerIn(own)
  return {
    ...rest,
    ...(stays && baseURL !== undefined ? { baseURL } : {}),
    ...(stays && apiKeyEnv !== undefined ? { apiKeyEnv } : {}),
    ...(choice.window === undefined ? {} : { contextWindowTokens: choice.window }),
    ...thinks,
    model: choice.model,
  }
}

export function providerIn(model: string): string | undefined {
  const named = modelName(model)
  return 'wrong' in named ? undefined : named.provider
}
