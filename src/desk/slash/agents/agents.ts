import type { Command } from '../../../core/talk/command.ts'
import type { Standing } from '../../../chat/desk/chat-desk.ts'
import type { App, AppPlace } from '../../../turn/app.ts'
import type { DeskControls } from '../../desk-controls.ts'
import type { AgentSettings } from '../../../settings/agent-settings.ts'
import { groupDigits } from '../../../base/text/number-words.ts'
import { channelWords, leashWords } from '../../../turn/agent-channel.ts'
import { findSubagents } from '../../../native/loop/subagent-files.ts'
import { isTrusted } from '../shared/native-agent.ts'
import { windowOf, atDesk, leashOf, nativeAgents, noAgentWords } from '../../../settings/enabled-agents.ts'
import { UsageError } from '../../../core/io.ts'
import { oneLine } from '../../../base/text/table.ts'
import { stateWords } from '../shared/state-words.ts'

export function agentsCommand(controls: DeskControls): Command {
  return {
    name: 'agents',
    help: 'Show the agents and what they may do; switch, order, add and remove them.',
    matters: true,
    async run(_args, world) {
      const { say } = world
      const app = controls.app()
      if (world.screen.list) {
        const subagents = await subagentLines(app)
        if (subagents.length > 0) say(subagents.join('\n').trim(), 'text')
        const { showAgents } = await import('./agent-list.ts')
        return showAgents(controls, world)
      }
      if (app.settings.agents.length === 0) throw new UsageError(noAgentWords(app.settings, atDesk))
      const lines = app.settings.agents.map((agent) => line(app, agent, controls.standing()))
      say([...lines, ...(await subagentLines(app))].join('\n'), 'text')
    },
  }
}

/** The subagents of termaite's own agent, with their files and the errors in those files. */
async function subagentLines(app: App): Promise<string[]> {
  if (nativeAgents(app.settings).length === 0) return []
  const { cwd, root, home } = app.place
  const { subagents, warnings, unused } = findSubagents({ cwd, root, home, trusted: await isTrusted(app) })
  const lines = subagents.map(
    ({ name, description, place, unknown }) =>
      `- ${[name, place].join(' · ')}${description && `: ${oneLine(description, 120)}`}${unknown ? ` (termaite does not use ${unknown.join(', ')})` : ''}`,
  )
  const untrusted = unused.map((place) => `- ${place} is not used until you trust this folder: type /trust.`)
  const all = [...lines, ...untrusted, ...warnings.map((words) => `- ${words}`)]
  return all.length === 0 ? [] : ['', 'Subagents that termaite’s own agent can hand a task to:', '', ...all]
}

/** One line for each agent, because a table would be too wide for a terminal. */
function line({ settings, leash }: AppPlace, agent: AgentSettings, { agents, next }: Standing): string {
  const known = agents.find(({ name }) => name === agent.name)
  const parts = [
    agent.name,
    ...(next === agent.name ? ['takes the next turn'] : []),
    known ? stateWords(known) : agent.enabled === false ? 'switched off' : 'not used in this mode',
    `window ${groupDigits(windowOf(agent))}`,
    channelWords(agent),
    leashWords(agent, leashOf(settings, agent, { leash })),
  ]
  return `- ${parts.join(' · ')}`
}
