import type { Effort } from '../models/provider.ts'
import type { NativeAgentSettings } from './settings.ts'
import { defined } from '../base/defined.ts'
import { defaultModel, modelName } from '../models/provider.ts'

/** A model that a person chose in the chat; `window` and `effort` where they are known. */
export type ModelChoice = { model: string; window?: number; effort?: Effort }

/** Gives an agent the chosen model. Another provider must not get the address or the key of the agent's own provider. */
export function withModel(agent: NativeAgentSettings, choice: ModelChoice | undefined): NativeAgentSettings {
  if (!choice) return agent
  const own = agent.model ?? defaultModel
  const { model, effort = agent.effort, window = agent.contextWindowTokens } = choice
  if (model === own) return defined({ ...agent, effort })
  const stays = providerIn(model) === providerIn(own)
  return defined({
    ...agent,
    model,
    effort,
    contextWindowTokens: window,
    baseURL: stays ? agent.baseURL : undefined,
    apiKeyEnv: stays ? agent.apiKeyEnv : undefined,
  })
}

export function providerIn(model: string): string | undefined {
  const named = modelName(model)
  return 'wrong' in named ? undefined : named.provider
}
