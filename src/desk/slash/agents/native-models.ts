import type { CommandWorld } from '../../../core/talk/command.ts'
import type { ProviderName } from '../../../models/provider.ts'
import type { DeskControls } from '../../desk-controls.ts'
import type { ModelChoice, NativeAgentSettings } from '../../../settings/agent-settings.ts'
import { groupDigits } from '../../../base/text/number-words.ts'
import { sender } from '../../../models/http/http-client.ts'
import { listModels } from '../../../models/open/model-list.ts'
import { localServers } from '../../../models/open/local-servers.ts'
import { defaultModel, modelName, providerOf, providers } from '../../../models/provider.ts'
import { knownOf } from '../../../models/model-windows.ts'
import { openKeys } from '../../../safety/api-keys.ts'
import { providerIn } from '../../../settings/agent-settings.ts'
import { UsageError } from '../../../core/io.ts'
import { choose } from '../shared/choice.ts'

type Offer = { provider: ProviderName; models: { id: string; window?: number }[] }

/** How to ask providers for their models; tests pass in their own functions. */
export type ModelParts = { fetch?: typeof globalThis.fetch; open?: typeof openKeys }

/** Reads the typed model of our own agent, which names its provider. */
export function typedNativeModel(text: string): ModelChoice {
  const named = modelName(text)
  if ('wrong' in named) throw new UsageError(`${named.wrong}.`)
  return chosen(named.provider, { id: named.model })
}

/** A local model's window costs memory, so only the server's own number counts. */
function chosen(provider: ProviderName, { id, window }: Offer['models'][number]): ModelChoice {
  const takes = window ?? (providerOf(provider).local ? undefined : knownOf(provider, id).window)
  return { model: `${provider}/${id}`, ...(takes === undefined ? {} : { window: takes }) }
}

/** Asks which of the models that the providers offer our own agent should use; undefined if the person leaves the card. */
export async function pickNativeModel(
  controls: DeskControls,
  agent: NativeAgentSettings,
  world: CommandWorld,
  parts: ModelParts,
): Promise<ModelChoice | undefined> {
  const offers = await offered(controls, agent, world, parts)
  if (offers.length === 0)
    throw new UsageError('no provider has a key, and no model server runs on this machine. Add a key with /connect.')
  const labels = offers.map(({ provider, models }) => ({
    id: provider,
    label: `${providerOf(provider).label} (${models.length} ${models.length === 1 ? 'model' : 'models'})`,
  }))
  const now = `Now: ${modelOf(agent)}.`
  const provider = labels.length === 1 ? labels[0]!.id : await choose(world, `Which provider? ${now}`, labels)
  const models = offers.find((offer) => offer.provider === provider)?.models ?? []
  if (provider === undefined) return undefined
  const options = models.map(({ id, window }) => ({
    id,
    label: window === undefined ? id : `${id} (${groupDigits(window)} tokens)`,
  }))
  const id = await choose(
    world,
    `Which model of ${providerOf(provider).label} should ${agent.name} use? ${now}`,
    options,
  )
  const model = models.find((one) => one.id === id)
  return model && chosen(provider, model)
}

/** Asks all providers at once. A failure of one is reported, and the others are still listed. */
async function offered(
  controls: DeskControls,
  agent: NativeAgentSettings,
  { say, signal }: CommandWorld,
  { fetch, open = openKeys }: ModelParts,
): Promise<Offer[]> {
  const { native } = controls.app()
  const { clock } = native
  const send = fetch ?? sender(native.env)
  const keys = open(native)
  const own = providerIn(modelOf(agent))
  const asked = (Object.keys(providers) as ProviderName[]).map(async (name): Promise<Offer[]> => {
    const { keys: variables, local, label, cloud } = providerOf(name)
    const mine = name === own
    const baseURL = mine ? agent.baseURL : undefined
    const key = (await keys.get(name, mine && agent.apiKeyEnv ? [agent.apiKeyEnv] : variables))?.key
    // `localServers` finds local servers at their usual address.
    if (baseURL === undefined && (local || key === undefined) && !(mine && cloud)) return []
    const found = await listModels(name, key, {
      clock,
      fetch: send,
      env: native.env,
      signal,
      ...(baseURL === undefined ? {} : { baseURL }),
    })
    if (!found.failure) return found.models.length > 0 ? [{ provider: name, models: found.models }] : []
    if (!signal.aborted) say(`${label} did not list its models: ${found.failure.message}`, 'note')
    return []
  })
  const [listed, here] = await Promise.all([Promise.all(asked), localServers(clock, send)])
  const all = listed.flat()
  const more = here.filter(({ provider, models }) => models.length > 0 && !all.some((one) => one.provider === provider))
  return [...all, ...more.map(({ provider, models }) => ({ provider, models }))]
}

/** The model of our own agent as it is now. */
export const modelOf = ({ model = defaultModel }: NativeAgentSettings) => model
