import type { Leash } from '../core/work/agent.ts'
import type { AgentSettings } from './settings/settings.ts'
import { profileOf } from './roster.ts'

/** What a leash means for everyone, before each CLI's own words for it. */
export const leashMeanings: Record<Leash, string> = {
  read: 'look only',
  ask: 'act after a yes',
  edit: 'change files in the project, ask for the rest',
  all: 'everything',
}

/** What an agent may do on a leash, in words. */
export function leashWords(agent: AgentSettings, leash: Leash): string {
  if (agent.command !== undefined) return 'own flags: the command runs as it is written'
  return `${leash}: ${profileOf(agent)?.leashes[leash] ?? 'it cannot be held to this'}`
}
