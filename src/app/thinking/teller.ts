import type { Agent } from '../../core/work/agent.ts'
import type { App } from '../app.ts'
import type { NativeAgentSettings } from '../../settings/agent-settings.ts'
import { defaultModel, modelName, providerOf } from '../../models/provider.ts'
import { knownOf } from '../../models/windows.ts'
import { consultant } from '../consultant.ts'
import { nativeAgents, windowOf } from '../../settings/enabled-agents.ts'
import { readersIn } from './readers.ts'

/** Who names a framework for the least: our own agent in one short request, else a CLI with its program and its whole frame. */
export async function tellerIn(app: App): Promise<Agent | undefined> {
  const found = await readersIn(app)
  if ('why' in found) return undefined
  const [own] = nativeAgents(app.settings)
    .filter(({ name }) => found.names.includes(name))
    .sort((a, b) => priceOf(a) - priceOf(b))
  // Whether another vendor may hear of it is the rotation's to ask.
  if (!own || app.settings.sharing === 'ask')
    return consultant(app, [], { names: found.names, first: own?.name ?? found.names[0]! })
  return bare(own, app)
}

/** What nobody knows the price of comes after what anybody does. */
const unpriced = Number.MAX_VALUE

/** Dollars for a million tokens asked; what runs on a machine of one's own costs none. */
function priceOf({ model = defaultModel }: NativeAgentSettings): number {
  const named = modelName(model)
  if ('wrong' in named) return unpriced
  if (providerOf(named.provider).wire === 'ollama') return 0
  return knownOf(named.provider, named.model).price?.input ?? unpriced
}

/** Its model and one question: without tools nothing can be done but to answer. */
async function bare(agent: NativeAgentSettings, { settings, native }: App): Promise<Agent> {
  const [{ nativeAgent }, { frameOf }, { modelOf }] = await Promise.all([
    import('../../agents/native/native-loop.ts'),
    import('../../agents/native/model-messages.ts'),
    import('../native/model.ts'),
  ])
  return nativeAgent({
    name: agent.name,
    model: modelOf({ agent, settings, leash: 'read', window: windowOf(agent) }, native),
    tools: [],
    policy: async () => ({ verdict: 'no', why: 'it was only asked for a word' }),
    frame: frameOf('You name the way in which a request is best thought through.', []),
    maxSteps: 1,
  })
}
