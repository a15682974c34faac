import type { Model } from '../../core/work/model.ts'
import type { NativeParts, NativeSeat } from './native-parts.ts'
import { openModel } from '../../models/open-model.ts'
import { defaultModel, modelName, providerOf } from '../../models/provider.ts'
import { openKeys } from '../../safety/api-keys.ts'

/** Opens the model of a seat, at the address and with the key that its settings name. */
export function modelOf({ agent }: NativeSeat, parts: NativeParts): Model {
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
      key: async () => ('wrong' in named ? undefined : (await keys.get(named.provider, variables))?.key),
    },
  )
}
