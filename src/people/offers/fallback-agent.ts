import type { WorkMode } from '../../core/work/agent.ts'
import type { Settings } from '../../settings/settings.ts'
import type { NativeAgentSettings } from '../../settings/agent-settings.ts'
import type { Sources } from './agent-offers.ts'
import type { Io } from '../../core/io.ts'
import type { Place } from '../../home/place.ts'
import { defaultModel, providerOf, providers } from '../../models/provider.ts'
import { UsageError } from '../../core/io.ts'
import { agentOf } from '../../settings/agent-settings.ts'

/** Our own agent, used without being configured, and the warning about it. */
export type FallbackAgent = { agent: NativeAgentSettings; words: string }

/**
 * Makes our own agent for a mode that needs one if none is configured: on the default model, otherwise on any model with a key or a
 * server. Undefined if none is needed. If there is no model, throws a UsageError that says what to do.
 */
export async function fallbackNative(
  { agents }: Settings,
  mode: WorkMode,
  { io, place }: { io: Io; place: Place },
  sources?: Sources,
): Promise<FallbackAgent | undefined> {
  if (mode === 'chat' || agents.some(({ kind }) => kind === 'native')) return undefined
  // Another program's agent can plan and send workers too.
  if (mode !== 'agent' && agents.some(({ enabled }) => enabled !== false)) return undefined
  const { nativeOffers, sourcesOf } = await import('./agent-offers.ts')
  const { keys, servers, cloud: login } = sources ?? sourcesOf({ env: io.env, home: place.home, clock: io.clock })
  // A login to a company's cloud does not mean that the person wants its models; a key for its models does.
  const cloud: Sources['cloud'] = async (name, model, key) =>
    key === undefined || !login ? { why: 'it has no key of its own' } : login(name, model, key)
  const keyed = await nativeOffers({ keys, cloud, servers: async () => [] }, io.env)
  // Looks for local servers only if there is no key, because that takes time.
  const offers = keyed.length > 0 ? keyed : await nativeOffers({ keys, cloud, servers }, io.env)
  const made = offers.map((offer) => agentOf(offer.settings('ask'))).filter((agent) => agent.kind === 'native')
  const chosen = made.find(({ model }) => model === defaultModel) ?? made[0]
  if (!chosen) throw new UsageError(noModel(mode))
  const agent = agents.some(({ name }) => name === chosen.name) ? { ...chosen, name: 'native' } : chosen
  return {
    agent,
    words: `No native agent is configured, so ${agent.name} uses ${agent.model}. Run \`termaite setup\` to keep it.`,
  }
}

export function withFallback(settings: Settings, spare: FallbackAgent | undefined): Settings {
  if (!spare) return settings
  return { ...settings, agents: [...settings.agents, spare.agent], warnings: [...settings.warnings, spare.words] }
}

function noModel(mode: WorkMode): string {
  const [usual] = providers.groq.keys
  const others = Object.keys(providers).flatMap((name) => {
    const { keys, usual: model } = providerOf(name as keyof typeof providers)
    return model === undefined || keys[0] === usual ? [] : keys.slice(0, 1)
  })
  return `the mode ${mode} needs a model for termaite’s own agent, and no model is set up. Set ${usual} to use ${defaultModel}, or set ${others.join(' or ')}, or start a model server on this machine. \`termaite setup\` helps.`
}
