import type { WorkMode } from '../../core/work/agent.ts'
import type { Settings } from '../../settings/settings.ts'
import type { NativeAgentSettings } from '../../settings/agent-settings.ts'
import type { Sources } from './agent-offers.ts'
import type { Io } from '../../core/io.ts'
import type { Place } from '../place.ts'
import { defaultModel, providerOf, providers } from '../../models/provider.ts'
import { UsageError } from '../../core/io.ts'
import { agentOf } from '../../settings/agent-settings.ts'

/** An agent of our own that nobody configured, and what the person should know of it. */
export type Spare = { agent: NativeAgentSettings; words: string }

/**
 * Who works in a mode that needs an agent of our own where none is configured: on the usual model, else on whatever
 * there is a key or a server for. Undefined where none is needed; throws a UsageError that says what to do.
 */
export async function spareNative(
  { agents }: Settings,
  mode: WorkMode,
  { io, place }: { io: Io; place: Place },
  sources?: Sources,
): Promise<Spare | undefined> {
  if (mode === 'chat' || agents.some(({ kind }) => kind === 'native')) return undefined
  const { nativeOffers, sourcesOf } = await import('./agent-offers.ts')
  const { keys, servers } = sources ?? sourcesOf({ env: io.env, home: place.home, clock: io.clock })
  const keyed = await nativeOffers({ keys, servers: async () => [] }, io.env)
  // A server on this machine is only looked for where there is no key.
  const offers = keyed.length > 0 ? keyed : await nativeOffers({ keys, servers }, io.env)
  const made = offers.map((offer) => agentOf(offer.settings('ask'))).filter((agent) => agent.kind === 'native')
  const chosen = made.find(({ model }) => model === defaultModel) ?? made[0]
  if (!chosen) throw new UsageError(noModel(mode))
  const agent = agents.some(({ name }) => name === chosen.name) ? { ...chosen, name: 'native' } : chosen
  return { agent, words: `No agent of our own is configured: ${agent.name} asks ${agent.model}; setup keeps it.` }
}

export function withSpare(settings: Settings, spare: Spare | undefined): Settings {
  if (!spare) return settings
  return { ...settings, agents: [...settings.agents, spare.agent], warnings: [...settings.warnings, spare.words] }
}

function noModel(mode: WorkMode): string {
  const [usual] = providers.groq.keys
  const others = Object.keys(providers).flatMap((name) => {
    const { keys, usual: model } = providerOf(name as keyof typeof providers)
    return model === undefined || keys[0] === usual ? [] : keys.slice(0, 1)
  })
  return `the mode ${mode} needs a model for our own agent, and there is none. Set ${usual}, and it asks ${defaultModel}; or set ${others.join(' or ')}; or start a model server on this machine. \`termaite setup\` helps.`
}
