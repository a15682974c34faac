import type { Leash, SeatLeash } from '../core/work/agent.ts'
import type { Settings } from './settings.ts'
import type { AgentSettings, NativeAgentSettings } from './agent-settings.ts'
import { heldLeash, leashes } from '../core/work/agent.ts'
import { modelWindow, unknownWindow } from '../models/model-windows.ts'
import { profileOf } from './agent-settings.ts'

/** The agents that are switched on, in the order of the settings. */
export function enabledAgents(settings: Settings): AgentSettings[] {
  return settings.agents.filter((agent) => agent.enabled !== false)
}

/** The enabled agents that are termaite's own. */
export function nativeAgents(settings: Settings): NativeAgentSettings[] {
  return enabledAgents(settings).filter((agent) => agent.kind === 'native')
}

/** The number of tokens in an agent's context window: from the settings, otherwise from the profile or the list of models. */
export function windowOf(agent: AgentSettings): number {
  if (agent.kind === 'native') return agent.contextWindowTokens ?? modelWindow(agent.model)
  return agent.contextWindowTokens ?? profileOf(agent)?.window ?? unknownWindow
}

/** The smallest window that the shared view must fit. Agents with a view of their own do not count. */
export function smallestWindow(settings: Settings): number {
  const windows = enabledAgents(settings)
    .filter((agent) => !agent.ownView)
    .map(windowOf)
  return windows.length ? Math.min(...windows) : unknownWindow
}

/**
 * The leash of an agent: its own or the usual one, as limited or loosened by its seat. All code that starts an agent or shows what an
 * agent may do takes the leash from here.
 */
export function leashOf(
  settings: Pick<Settings, 'leash'>,
  agent: Pick<AgentSettings, 'leash'> | undefined,
  seat: SeatLeash = {},
): Leash {
  return heldLeash(agent?.leash ?? settings.leash, seat)
}

/**
 * Whether an agent is limited only by its own flags: a command that the person wrote runs unchanged, whatever its leash is. Over ACP,
 * termaite's answers limit such a command to its leash. On the leash `read`, the sandbox limits an agent that never runs without a
 * sandbox.
 */
export function keepsOwnFlags(
  agent: Pick<AgentSettings, 'kind' | 'wall'> & { command?: string },
  leash: Leash,
): boolean {
  if (agent.kind === 'native' || agent.kind === 'acp' || agent.command === undefined) return false
  return !(agent.wall === true && leash === 'read')
}

/** The loosest leash of all enabled agents. A turn runs on it, but each agent is still limited to its own leash. */
export function loosestLeash(settings: Settings): Leash {
  const own = enabledAgents(settings).map((agent) => leashOf(settings, agent))
  return leashes.findLast((leash) => own.includes(leash)) ?? settings.leash
}

/** The commands that a person types to set up agents and to edit the settings: shell commands, or slash commands in the chat. */
type SetupHints = { setup: string; edit: string }

const inShell: SetupHints = { setup: 'Run `termaite setup`', edit: 'termaite config edit' }
export const atDesk: SetupHints = { setup: 'Type /setup', edit: '/config' }

/** Explains why no agent can take a turn, and what to do about it. */
export function noAgentWords({ agents }: Settings, { setup, edit } = inShell): string {
  if (agents.length === 0)
    return `no agent is configured yet. ${setup} to find the agents on this machine, or \`termaite demo\` to see it work without any.`
  const names = agents.map(({ name }) => name).join(', ')
  return `every agent is disabled, by your settings or by those of the project (.termaite/settings.json): ${names}. Enable one with: ${edit}`
}
