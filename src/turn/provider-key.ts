import type { Keys } from '../safety/api-keys.ts'
import type { Clock } from '../base/time/clock.ts'
import type { Io } from '../core/io.ts'
import type { CloudName } from '../models/provider.ts'
import type { NativeAgentSettings } from '../settings/agent-settings.ts'
import { defined } from '../base/defined.ts'
import { defaultModel, modelName, providerOf, wireOf } from '../models/provider.ts'

type World = { env: Io['env']; clock: Clock }

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

/**
 * The place of our own agent's login, or the reason why it has none: `next` continues a sentence, `why` is one or more whole sentences.
 */
type NativeLogin = { place: string } | { next: string } | { why: string }

/** Finds the key or the cloud's login of our own agent; undefined if none is needed. */
export async function nativeKey(
  agent: NativeAgentSettings,
  keys: Keys,
  world: World,
): Promise<NativeLogin | undefined> {
  const named = modelName(agent.model ?? defaultModel)
  if ('wrong' in named) return { next: `${named.wrong}: set its "model" with termaite config edit` }
  const provider = providerOf(named.provider)
  const variables = agent.apiKeyEnv ? [agent.apiKeyEnv] : provider.keys
  if (provider.cloud) {
    const key = (await keys.get(named.provider, variables))?.key
    return cloudLogin(provider.cloud, named.model, world, defined({ key, baseURL: agent.baseURL }))
  }
  if (provider.keys.length === 0) return undefined
  const place = await providerKeyPlace(keys, named.provider, variables, world.env)
  return place === undefined
    ? { next: `give it a key: set ${variables.join(' or ')}, or type /connect ${named.provider} in the chat` }
    : { place }
}

/** Says by which credential a cloud's model would be called and where, or what is missing. No request is sent to the model. */
export async function cloudLogin(
  name: CloudName,
  model: string,
  { env, clock }: World,
  own: { key?: string; baseURL?: string },
): Promise<{ place: string } | { why: string }> {
  const [{ cloudWorld, openCloud }, { sender }, { knownAs }] = await Promise.all([
    import('../models/clouds/open-cloud.ts'),
    import('../models/http/http-client.ts'),
    import('../models/model-windows.ts'),
  ])
  const provider = providerOf(name)
  const cloud = await openCloud(name)
  const world = cloudWorld(provider, { env, clock, fetch: sender(env), ...own })
  const found = await cloud.open(model, wireOf(provider, knownAs(name, model)), world)
  if ('failure' in found) return { why: found.failure.message }
  return { place: `${found.login.words}, for ${new URL(found.base).host}` }
}
