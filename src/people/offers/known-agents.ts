import type { Leash } from '../../core/work/agent.ts'
import type { WrittenAgent } from '../../settings/agent-settings.ts'
import type { Offer } from './agent-offers.ts'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { isMissing } from '../../base/files/files.ts'
import { jsonFormat } from '../../native/mcp-config/json-format.ts'
import { withItem } from '../../native/mcp-config/json-lists.ts'
import { agentOf } from '../../settings/agent-settings.ts'
import { leashWords } from '../../turn/agent-channel.ts'
import { SettingsError } from '../../settings/fault.ts'
import { readSettingsFile } from '../../settings/settings-file.ts'

/** The person's settings file, if setup can change its agents and leave the rest unchanged. */
export type KnownSettings = { file: string; text: string; agents: WrittenAgent[]; leash?: Leash }

/** Reads the existing settings. Undefined if they do not exist, have faults, or have no JSON list of agents. */
export async function knownSettings(home: string): Promise<KnownSettings | undefined> {
  const file = join(home, 'settings.json')
  try {
    const text = readFileSync(file, 'utf8')
    const settings = await readSettingsFile(file)
    const agents = jsonFormat.find(text, ['agents']) ?? []
    if (!settings || !Array.isArray(agents)) return undefined
    return { file, text, agents: agents as WrittenAgent[], ...(settings.leash ? { leash: settings.leash } : {}) }
  } catch (error) {
    if (isMissing(error) || error instanceof SettingsError) return undefined
    throw error
  }
}

/** An agent that setup offers, either already in the settings or new. */
export type KnownOffer = Offer & { known?: WrittenAgent }

/** The agents of the settings in their order, then those that were found in addition. */
export function withKnown(found: readonly Offer[], known: readonly WrittenAgent[]): KnownOffer[] {
  const isNew = (offer: Offer) => !known.some((agent) => isOf(agent, offer))
  return [...known.map((agent) => knownOffer(agent, found)), ...found.filter(isNew)]
}

function knownOffer(agent: WrittenAgent, found: readonly Offer[]): KnownOffer {
  const { name, leash, command } = agent
  const offer = found.find((one) => isOf(agent, one))
  const title = offer && (offer.name === name ? offer.title : `${offer.title} (${name})`)
  const own = { name, title: title ?? name, settings: () => agent, known: agent }
  const means = (on: Leash) => leashWords(agentOf(agent), leash ?? on)
  if (command !== undefined) return { ...own, words: inSettings, means }
  if (leash !== undefined) return { ...own, words: inSettings, means: () => `keeps its own leash "${leash}"` }
  if (!offer) return { ...own, words: inSettings, means }
  return { ...own, words: `${offer.words} · ${inSettings}`, means: (on) => offer.means(on) }
}

const inSettings = 'in your settings'

/** Whether an agent of the settings is the offered one, perhaps under a name that the person gave it. */
const isOf = ({ name, profile, kind, model }: WrittenAgent, offer: Offer) =>
  offer.own
    ? kind === 'native' && model?.split('/')[0] === offer.name
    : kind !== 'native' && (profile ?? name) === offer.name

/**
 * The text of the settings with these agents and this leash. Everything else stays unchanged; comments stay too if agents are only added
 * at the end.
 */
export function withAgents(
  { text, agents: before, leash: held }: KnownSettings,
  agents: readonly WrittenAgent[],
  leash: Leash,
): string {
  const leashed = leash === held ? text : jsonFormat.put(text, ['leash'], leash)
  if (isDeepStrictEqual(agents, before)) return leashed
  if (before.length === 0 || !isDeepStrictEqual(agents.slice(0, before.length), before))
    return jsonFormat.put(leashed, ['agents'], agents)
  return agents.slice(before.length).reduce((edited, agent) => withItem(edited, ['agents'], agent), leashed)
}
