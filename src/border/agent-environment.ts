import type { Io } from '../core/io.ts'
import type { AgentSettings } from '../settings/agent-settings.ts'
import type { Settings } from '../settings/settings.ts'
import { foreignKeys, withOwnKeys, withoutOurKeys } from '../core/profile/key-variables.ts'
import { profileOf } from '../settings/agent-settings.ts'

type Keyed = Pick<Settings, 'agents'>

/** The environment variables that the settings name as keys of our own agents. */
export function namedKeys({ agents }: Keyed): string[] {
  return agents.flatMap((agent) => (agent.kind === 'native' && agent.apiKeyEnv !== undefined ? [agent.apiKeyEnv] : []))
}

/**
 * The key variables that an agent gets: those of its profile, and those that its settings list in `keys`. Undefined means all: nobody can
 * know which keys a command without a profile needs, and our own agent itself hides them from its commands.
 */
function ownKeys(agent: AgentSettings): readonly string[] | undefined {
  if (agent.kind === 'native') return undefined
  const profile = profileOf(agent)
  return profile || agent.keys ? [...(profile?.keys ?? []), ...(agent.keys ?? [])] : undefined
}

/** The environment of a CLI: the person's own, without other vendors' keys and without ours. */
export function agentEnvironment(env: Io['env'], agent: AgentSettings, settings: Keyed): Io['env'] {
  const own = ownKeys(agent)
  return own ? withOwnKeys(env, own, namedKeys(settings)) : withoutOurKeys(env)
}

/** Names the variables that are removed for a CLI in a terminal, even if the init files of the person's shell set them. */
export function withheldKeys(agent: AgentSettings, settings: Keyed): string[] {
  const own = ownKeys(agent)
  return own ? foreignKeys(own, namedKeys(settings)) : []
}
