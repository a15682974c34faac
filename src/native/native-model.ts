import type { Model } from '../core/work/model.ts'
import type { NativeParts, NativeSeat } from './native-parts.ts'
import type { Patience } from './loop/model-step.ts'
import { usualPatience } from './loop/model-step.ts'
import { openModel } from '../models/open/open-model.ts'
import { defaultModel, modelName, providerOf } from '../models/provider.ts'
import { modelLike } from '../models/model-windows.ts'
import { openKeys } from '../safety/api-keys.ts'

/** How long a seat's agent retries while its provider is busy or broken and no other agent is free. */
export const patienceOf = ({ agent, settings }: NativeSeat): Patience => ({
  ...usualPatience,
  seconds: agent.retrySeconds ?? settings.retrySeconds,
})

/**
 * The model from the file of a command or a subagent, at the provider of the seat. A project must not choose which company gets the
 * conversation, so only the person's own file can name another provider. `why` says why the name is not used.
 */
export function fileModel(
  wanted: string,
  from: 'project' | 'user',
  seat: NativeSeat,
): { model: string } | { why: string } {
  const own = modelName(seat.agent.model ?? defaultModel)
  if ('wrong' in own) return { why: own.wrong }
  const name = wanted.replace(/#\w+$/, '')
  const named = modelName(name)
  if ('wrong' in named) {
    const found = modelLike(own.provider, name)
    return found === undefined
      ? { why: `${providerOf(own.provider).label} has no model of this name` }
      : { model: found }
  }
  if (named.provider === own.provider || from === 'user') return { model: name }
  return { why: 'a project cannot choose another provider' }
}

/** Opens the model of a seat, with the address and the key from its settings. */
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
      learn: (provider, secret) => parts.border.learn(provider, secret),
      silenceMs: (agent.silenceSeconds ?? settings.silenceSeconds) * 1000,
      key: async () => ('wrong' in named ? undefined : (await keys.get(named.provider, variables))?.key),
    },
  )
}
