import type { Keys } from '../safety/api-keys.ts'
import type { Io } from '../core/io.ts'
import type { NativeAgentSettings } from '../settings/agent-settings.ts'
import { defaultModel, modelName, providerOf } from '../models/provider.ts'

/** Says where a provider's key is: the name of a variable, the keychain or the file; undefined without a key. The key itself is not returned. */
export async function providerKeyPlace(
  keys: Keys,
  name: string,
  variables: readonly string[],
  env: Io['env'],
): Promise<string | undefined> {
  const found = await keys.get(name, variables)
  return found?.place === 'environment' ? variables.find((one) => env[one]) : found?.place
}

/** Says where the key of our own agent is, or what to do without one; undefined where none is needed. */
export async function nativeKey(
  agent: NativeAgentSettings,
  keys: Keys,
  env: Io['env'],
): Promise<{ place: string } | { next: string } | undefined> {
  const named = modelName(agent.model ?? defaultModel)
  if ('wrong' in named) return { next: `${named.wrong}: set its "model" with termaite config edit` }
  const provider = providerOf(named.provider)
  if (provider.keys.length === 0) return undefined
  const variables = agent.apiKeyEnv ? [agent.apiKeyEnv] : provider.keys
  const place = await providerKeyPlace(keys, named.provider, variables, env)
  return place === undefined
    ? { next: `give it a key: set ${variables.join(' or ')}, or type /connect ${named.provider} in the chat` }
    : { place }
}
