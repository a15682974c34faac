import type { Command, CommandWorld } from '../../../core/talk/command.ts'
import type { ProviderName } from '../../../models/provider.ts'
import type { DeskControls } from '../../desk-controls.ts'
import type { ModelChoice, NativeAgentSettings } from '../../../settings/agent-settings.ts'
import { defined } from '../../../base/defined.ts'
import { groupDigits } from '../../../base/text/number-words.ts'
import { sender } from '../../../models/http/http-client.ts'
import { listModels } from '../../../models/open/model-list.ts'
import { localServers } from '../../../models/open/local-servers.ts'
import { defaultModel, modelName, providerOf, providers } from '../../../models/provider.ts'
import { efforts } from '../../../core/profile/effort.ts'
import { hasNoEffort, knownOf } from '../../../models/model-windows.ts'
import { openKeys } from '../../../safety/api-keys.ts'
import { noEffortWords, withModel, providerIn } from '../../../settings/agent-settings.ts'
import { UsageError } from '../../../core/io.ts'
import { nativeAgents } from '../../../settings/enabled-agents.ts'
import { nativeKey } from '../../../turn/provider-key.ts'
import { choose, goingOn, knownWord } from '../shared/choice.ts'
import { nativeAgent } from '../shared/native-agent.ts'

type Offer = { provider: ProviderName; models: { id: string; window?: number }[] }

/** How to ask providers for their models; tests pass in their own functions. */
type ModelParts = { fetch?: typeof globalThis.fetch; open?: typeof openKeys }

export function modelsCommand(controls: DeskControls, parts: ModelParts = {}): Command {
  return {
    name: 'models',
    words: '[model] [effort]',
    complete: (typed) => goingOn(typed, efforts),
    help: 'Choose the model of termaite’s own agent.',
    async run(args, world) {
      const agent = await pickAgent(controls, world)
      if (agent === undefined) return
      const choice =
        args.trim() === ''
          ? await pickModel(controls, agent, world, parts)
          : typedChoice(args.trim().split(/\s+/), agent)
      if (choice === undefined) return
      if (choice.effort !== undefined && hasNoEffort(choice.model)) throw new UsageError(noEffortWords(choice.model))
      const { effort = hasNoEffort(choice.model) ? undefined : agent.effort } = choice
      controls.setModel(agent.name, defined({ ...choice, effort }))
      const how = effort === undefined ? '' : ` with the effort ${effort}`
      world.say(
        `${agent.name} uses ${choice.model}${how} until you leave. To keep it, set "model" with /config.`,
        'note',
      )
      const { native } = controls.app()
      const key = await nativeKey(withModel(agent, choice), (parts.open ?? openKeys)(native), native)
      if (key && 'next' in key) world.say(`Before its next turn, ${key.next}.`, 'note')
      if (key && 'why' in key) world.say(key.why, 'note')
    },
  }
}

async function pickAgent(controls: DeskControls, world: CommandWorld): Promise<NativeAgentSettings | undefined> {
  const agents = nativeAgents(controls.app().settings)
  if (agents.length < 2) return nativeAgent(controls)
  const options = agents.map((agent) => ({ id: agent.name, label: `${agent.name} (${modelOf(agent)})` }))
  const name = await choose(world, 'Which agent’s model?', options)
  return agents.find((agent) => agent.name === name)
}

/** Reads a model, an effort, or both; an unknown word is an error with a suggestion. */
function typedChoice(words: readonly string[], agent: NativeAgentSettings): ModelChoice {
  const [first = '', second, ...more] = words
  if (more.length > 0)
    throw new UsageError('/models takes a model and an effort, for example: /models openai/gpt-5 high')
  const alone = second === undefined && (efforts as readonly string[]).includes(first)
  const effort = alone ? first : second
  return {
    ...(alone ? { model: modelOf(agent) } : typedModel(first)),
    ...(effort === undefined ? {} : { effort: knownWord('effort', effort, efforts) }),
  }
}

function typedModel(text: string): ModelChoice {
  const named = modelName(text)
  if ('wrong' in named) throw new UsageError(`${named.wrong}.`)
  return chosen(named.provider, { id: named.model })
}

/** A local model's window costs memory, so only the server's own number counts. */
function chosen(provider: ProviderName, { id, window }: Offer['models'][number]): ModelChoice {
  const takes = window ?? (providerOf(provider).local ? undefined : knownOf(provider, id).window)
  return { model: `${provider}/${id}`, ...(takes === undefined ? {} : { window: takes }) }
}

async function pickModel(
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

const modelOf = ({ model = defaultModel }: NativeAgentSettings) => model
