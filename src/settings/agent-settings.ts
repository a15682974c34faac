import type { FileSettings } from './settings-schema.ts'
import type { Profile } from '../core/profile/profile.ts'
import type { Effort } from '../core/profile/effort.ts'
import { defined } from '../base/defined.ts'
import { UsageError } from '../core/io.ts'
import { valueFault } from '../base/option-value.ts'
import { hasNoEffort } from '../models/model-windows.ts'
import { defaultModel, modelName, providerOf } from '../models/provider.ts'
import { profileFor, profileNamed } from '../profiles/all.ts'

/** One agent as written in the settings file: any key may appear with any kind. `agentOf` picks the keys of its kind. */
export type WrittenAgent = NonNullable<FileSettings['agents']>[number]

type AnyAgent = Pick<
  WrittenAgent,
  | 'name'
  | 'timeoutSeconds'
  | 'silenceSeconds'
  | 'enabled'
  | 'leash'
  | 'wall'
  | 'ownView'
  | 'env'
  | 'keys'
  | 'description'
  | 'idle_pattern'
  | 'busy_pattern'
  | 'ready_pattern'
  | 'spawn_mode'
  | 'response_fence'
> & { contextWindowTokens?: number }

/** termaite's own agent on a model. */
export type NativeAgentSettings = AnyAgent & { kind: 'native' } & Pick<
    WrittenAgent,
    'model' | 'baseURL' | 'apiKeyEnv' | 'effort' | 'retrySeconds'
  >

/** A third-party CLI: a command that runs as it is written, or a profile that knows the command. */
export type CliAgentSettings = AnyAgent & { kind: 'pipe' | 'screen' | 'acp'; effort?: Effort } & (
    | { command: string; args?: string[]; profile?: WrittenAgent['profile']; model?: string }
    | { command?: undefined; args?: undefined; profile: NonNullable<WrittenAgent['profile']>; model?: string }
  )

export type AgentSettings = NativeAgentSettings | CliAgentSettings

/**
 * Picks the keys that belong to the agent's kind. Keys of another kind are left out; `unusedWords` has warned of them.
 */
export function agentOf(written: WrittenAgent): AgentSettings {
  const { kind = 'pipe', command, args, profile, model, baseURL, apiKeyEnv, effort, retrySeconds, ...agent } = written
  if (kind === 'native') return defined({ ...agent, kind, model, baseURL, apiKeyEnv, effort, retrySeconds })
  // Over ACP the open session takes a model, whatever the command is.
  if (command !== undefined)
    return defined({ ...agent, kind, command, args, profile, effort, model: kind === 'acp' ? model : undefined })
  if (profile === undefined) throw new Error(`the agent ${agent.name} has neither a command nor a profile`)
  return defined({ ...agent, kind, profile, model, effort })
}

/** The profile of the CLI behind an agent; undefined for our own agents and for unknown commands. */
export function profileOf(agent: AgentSettings): Profile | undefined {
  if (agent.kind === 'native') return undefined
  if (agent.profile !== undefined) return profileNamed(agent.profile)
  return agent.command === undefined ? undefined : profileFor(agent.command)
}

/** Whether an agent can be given an MCP server for one turn; a command that a person wrote runs as it is. */
export function takesServers(agent: AgentSettings): boolean {
  if (agent.kind === 'acp') return true
  if (agent.kind === 'native' || agent.command !== undefined) return false
  const profile = profileOf(agent)
  return (agent.kind === 'screen' ? profile?.screen : profile)?.lends !== undefined
}

/** The company that an agent sends its conversation to, if it is known. */
export function vendorOf(agent: AgentSettings): string | undefined {
  if (agent.kind !== 'native') return profileOf(agent)?.vendor
  const named = modelName(agent.model ?? defaultModel)
  return 'wrong' in named ? undefined : providerOf(named.provider).label
}

/** A model and an effort that a person chose for an agent. A missing field means the value of the settings; `window` is set if known. */
export type ModelChoice = { model?: string; window?: number; effort?: Effort }

/** Gives an agent of any kind the chosen model and effort. */
export function withChoice(agent: AgentSettings, choice: ModelChoice | undefined): AgentSettings {
  if (!choice || agent.kind === 'native') return agent.kind === 'native' ? withModel(agent, choice) : agent
  const { model = agent.model, effort = agent.effort } = choice
  return defined({ ...agent, model, effort })
}

/** Gives our own agent the chosen model. Another provider must not get the address or the key of the agent's own provider. */
export function withModel(agent: NativeAgentSettings, choice: ModelChoice | undefined): NativeAgentSettings {
  if (!choice) return agent
  const own = agent.model ?? defaultModel
  const { model = own, effort = agent.effort, window = agent.contextWindowTokens } = choice
  if (model === own) return defined({ ...agent, effort })
  const stays = providerIn(model) === providerIn(own)
  return defined({
    ...agent,
    model,
    effort,
    contextWindowTokens: window,
    baseURL: stays ? agent.baseURL : undefined,
    apiKeyEnv: stays ? agent.apiKeyEnv : undefined,
  })
}

export function providerIn(model: string): string | undefined {
  const named = modelName(model)
  return 'wrong' in named ? undefined : named.provider
}

/** Why an agent's model cannot be chosen; undefined if it can be, or if only the agent's session will show whether it can. */
export function noModelReason(agent: AgentSettings): string | undefined {
  if (agent.kind === 'native' || agent.kind === 'acp') return undefined
  if (agent.command !== undefined) return 'its command runs as it is written, so write the model into the command'
  const profile = profileOf(agent)
  return profile?.models ? undefined : `${profile?.title ?? 'it'} has no option for the model, and chooses one itself`
}

/**
 * The agent that a model of the command line is for: the one that was named, the only one, or the only one that knows the model. Throws a
 * UsageError if none of these is clear, or if the agent takes no model.
 */
export function agentForModel(
  agents: readonly AgentSettings[],
  model: string,
  named: string | undefined,
): AgentSettings {
  const fault = valueFault(model)
  if (fault !== undefined) throw new UsageError(`--model: ${JSON.stringify(model)} ${fault}.`)
  const enabled = agents.filter(({ enabled }) => enabled !== false)
  const names = enabled.map(({ name }) => name).join(', ')
  const isNamed = named !== undefined && named !== '' && named !== 'auto'
  const asked = enabled.filter(({ name }) => name === named)
  if (isNamed && asked.length === 0) throw new UsageError(`there is no agent "${named}"; configured: ${names}.`)
  const knowing = enabled.filter((agent) => profileOf(agent)?.models?.names.includes(model))
  const [agent, ...others] = asked.length > 0 ? asked : enabled.length > 1 ? knowing : enabled
  if (agent === undefined || others.length > 0) {
    throw new UsageError(
      enabled.length === 0
        ? '--model is for an agent, and the settings have none. Leave it out.'
        : `--model ${model}: name the agent that it is for with -a. Configured: ${names}.`,
    )
  }
  const why = noModelReason(agent)
  if (why !== undefined) throw new UsageError(`--model cannot be used with ${agent.name}: ${why}. Leave it out.`)
  if (agent.kind === 'native') {
    const read = modelName(model)
    if ('wrong' in read) throw new UsageError(`--model: ${read.wrong}.`)
  }
  return agent
}

/** Why an agent's effort cannot be set; undefined if it can be, or if only the agent's session will show whether it can. */
export function noEffortReason(
  agent: Pick<WrittenAgent, 'kind' | 'command' | 'profile' | 'model'>,
): string | undefined {
  const { kind = 'pipe', command, model = defaultModel } = agent
  if (kind === 'native')
    return hasNoEffort(model) ? `its model ${model} has no setting for how hard it thinks` : undefined
  const profile = agent.profile === undefined ? undefined : profileNamed(agent.profile)
  if (kind === 'acp' && (command !== undefined || profile?.effort)) return undefined
  if (command !== undefined) return 'its command runs as it is written, so write the option into the command'
  return profile?.effort ? undefined : `${profile?.title ?? 'it'} has no option for how hard to think`
}

/**
 * Gives the agents the effort of this run. The returned warnings name the agents that cannot take it; throws a UsageError when no agent
 * can.
 */
export function withEffort(
  agents: AgentSettings[],
  effort: Effort | undefined,
): { agents: AgentSettings[]; warnings: string[] } {
  if (effort === undefined) return { agents, warnings: [] }
  const enabled = agents.filter((agent) => agent.enabled !== false)
  const unable = enabled.flatMap((agent) => {
    const why = noEffortReason(agent)
    return why === undefined ? [] : [{ agent, why }]
  })
  if (unable.length === enabled.length) {
    const [first] = unable
    if (!first) throw new UsageError('--effort is for agents, and the settings have none. Leave it out.')
    if (first.agent.kind === 'native') throw new UsageError(noEffortWords(first.agent.model ?? defaultModel))
    throw new UsageError(`--effort cannot be used with ${first.agent.name}: ${first.why}. Leave it out.`)
  }
  return {
    agents: agents.map((agent) => (unable.some((one) => one.agent === agent) ? agent : { ...agent, effort })),
    warnings: unable.map(({ agent, why }) => `${agent.name} is not given the effort ${effort}: ${why}.`),
  }
}

export const noEffortWords = (model: string) =>
  `${model} has no setting for how hard it thinks. Leave the effort out, or choose another model.`
