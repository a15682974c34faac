import type { Profile } from '../core/work/profile.ts'
import type { Leash } from '../core/work/agent.ts'
import type { AgentSettings } from '../settings/agent-settings.ts'
import { nativeLeashes } from './native/native-seat.ts'
import { profileOf } from '../settings/agent-settings.ts'

/** A way to reach a CLI, and what each leash means on it. */
export type Channel = { kind: 'pipe' | 'acp' | 'native'; words: string; leashes: Profile['leashes'] }

const native: Channel = { kind: 'native', words: 'our own agent, asks', leashes: nativeLeashes }

/** The best one first: what matters to a person is whether it can ask before it acts. */
function channels({ dialect, acp, leashes }: Profile): Channel[] {
  const asks = dialect?.().asks === true
  const pipe: Channel = { kind: 'pipe', words: asks ? 'its own stream, asks' : 'one-way pipe', leashes }
  if (!acp) return [pipe]
  const over: Channel = { kind: 'acp', words: 'ACP, asks', leashes: acp.leashes }
  return asks ? [pipe, over] : [over, pipe]
}

/** The best channel on which a CLI can be held to a leash. */
export function channelFor(profile: Profile, leash: Leash): Channel | undefined {
  return channels(profile).find(({ leashes }) => leashes[leash] !== undefined)
}

/** The channel that an agent is set up with; undefined for a command as a person wrote it. */
function channelOf(agent: AgentSettings): Channel | undefined {
  if (agent.kind === 'native') return native
  const profile = agent.command === undefined ? profileOf(agent) : undefined
  return profile && channels(profile).find(({ kind }) => kind === (agent.kind === 'acp' ? 'acp' : 'pipe'))
}

export function channelWords(agent: AgentSettings): string {
  return channelOf(agent)?.words ?? (agent.kind === 'acp' ? 'ACP, own command' : 'own command')
}

/** What an agent may do on a leash, in words. */
export function leashWords(agent: AgentSettings, leash: Leash): string {
  if (agent.kind !== 'native' && agent.command !== undefined) return 'own flags: the command runs as it is written'
  return `${leash}: ${channelOf(agent)?.leashes[leash] ?? 'it cannot be held to this'}`
}

/** What a leash means for everyone, before each CLI's own words for it. */
export const leashMeanings: Record<Leash, string> = {
  read: 'look only',
  ask: 'act after a yes',
  edit: 'change files in the project, ask for the rest',
  all: 'everything',
}
