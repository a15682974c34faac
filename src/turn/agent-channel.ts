import type { Profile } from '../core/profile/profile.ts'
import type { Leash } from '../core/work/agent.ts'
import { leashMeanings } from '../core/work/agent.ts'
import { keepsOwnFlags } from '../settings/enabled-agents.ts'
import type { AgentSettings } from '../settings/agent-settings.ts'
import { nativeLeashes } from '../native/native-seat.ts'
import { profileOf } from '../settings/agent-settings.ts'

/** A way to start and talk to an agent, and what each leash means for it. */
type AgentChannel = { kind: 'pipe' | 'acp' | 'native'; words: string; leashes: Profile['leashes'] }

const native: AgentChannel = {
  kind: 'native',
  words: 'termaite’s own agent, asks for permission here',
  leashes: nativeLeashes,
}

/** Lists the channels of a CLI, the best first: a channel that can ask before it acts is better. */
function channels({ dialect, acp, leashes }: Profile): AgentChannel[] {
  const asks = dialect?.().asks === true
  const pipe: AgentChannel = {
    kind: 'pipe',
    words: asks ? 'asks for permission here' : 'one-way pipe, cannot ask',
    leashes,
  }
  if (!acp) return [pipe]
  const over: AgentChannel = { kind: 'acp', words: 'ACP, asks for permission here', leashes: acp.leashes }
  return asks ? [pipe, over] : [over, pipe]
}

/** Chooses the best channel on which a CLI can be limited to a leash. */
export function channelFor(profile: Profile, leash: Leash): AgentChannel | undefined {
  return channels(profile).find(({ leashes }) => leashes[leash] !== undefined)
}

/** The channel of an agent as it is set up; undefined for a command that the person wrote. */
function channelOf(agent: AgentSettings): AgentChannel | undefined {
  if (agent.kind === 'native') return native
  const profile = agent.command === undefined ? profileOf(agent) : undefined
  return profile && channels(profile).find(({ kind }) => kind === (agent.kind === 'acp' ? 'acp' : 'pipe'))
}

export function channelWords(agent: AgentSettings): string {
  return channelOf(agent)?.words ?? (agent.kind === 'acp' ? 'ACP, own command' : 'own command')
}

/** Says what an agent may do on a leash. */
export function leashWords(agent: AgentSettings, leash: Leash): string {
  if (keepsOwnFlags(agent, leash)) return ownFlagsWords
  if (agent.kind !== 'native' && agent.command !== undefined) return `${leash}: ${leashMeanings[leash]}`
  return `${leash}: ${channelOf(agent)?.leashes[leash] ?? 'the CLI cannot be held to this'}`
}

export const ownFlagsWords = 'own flags: the command runs as it is written'
