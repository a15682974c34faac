import type { Model } from '../../core/work/model.ts'
import type { NativeParts, NativeSeat } from './native-parts.ts'
import type { Patience } from '../../agents/native/model-step.ts'
import { usualPatience } from '../../agents/native/model-step.ts'
import { openModel } from '../../models/open-model.ts'
import { defaultModel, modelName, providerOf } from '../../models/provider.ts'
import { openKeys } from '../../safety/api-keys.ts'

/** How long a seat's agent tries again while its provider is busy or broken and no other agent is free. */
export const patienceOf = ({ agent, settings }: NativeSeat): Patience => ({
  ...usualPatience,
  seconds: agent.retrySeconds ?? settings.retrySeconds,
})

/** Opens the model of a seat, at the address and with the key that its settings name. */
export function modelOf({ agent, settings }: NativeSeat, parts: NativeParts): Model {
  const { blobs, clock, session } = parts
  const name = agent.model ?? defaultModel
  const named = modelName(name)
  const keys = openKeys(parts)
  const variables = agent.apiKeyEnv ? [agent.apiKeyEnv] : 'wrong' in named ? [] : providerOf(named.provider).keys
  return openModel(
    {
      model: name,
      baseURL: agent.baseURL,
      effort: agent.effort,
      // A local server allocates memory for the window, so only a number that the person wrote is passed on.
      window: agent.contextWindowTokens,
    },
    {
      blobs,
      clock,
      session,
      env: parts.env,
      silenceMs: (agent.silenceSeconds ?? settings.silenceSeconds) * 1000,
      key: async () => ('wrong' in named ? undefined : (await keys.get(named.provider, variables))?.key),
    },
  )
}
