import type { Command } from '../../core/talk/command.ts'
import type { DeskControls } from '../desk-controls.ts'
import { groupDigits } from '../../base/text/number-words.ts'
import { list, table } from '../../base/text/table.ts'
import { stateWords } from './shared/state-words.ts'
import { block } from './shared/code-block.ts'

export function statusCommand(controls: DeskControls): Command {
  return {
    name: 'status',
    help: 'Show agents, leash, model, session, project, sandbox and hub.',
    async run(_args, { say }) {
      const { io, place, settings, session, mode } = controls.app()
      const { agents, next, strategy, tokens, leash, ownFlags } = controls.standing()
      const [{ machineWall }, { namedHub }, { runningHubUrl }] = await Promise.all([
        import('../../native/agent-wall.ts'),
        import('../../hub/client/hub-address.ts'),
        import('../../border/running-processes.ts'),
      ])
      const missing = await (await machineWall(io.env, place.cwd)).none()
      const agent = settings.agents.find(({ name }) => name === next)
      const cost = tokens.cost === undefined ? '' : `, $${tokens.cost.toFixed(2)}`
      const rows = [
        ['Project', place.root],
        ['Session', session.name ?? session.id],
        ['Mode', mode],
        ['Leash', ownFlags ? `${leash}, but ${next ?? 'a command of your own'} keeps to its own flags` : leash],
        ['Next agent', next ?? `chosen by ${strategy}`],
        ['Model', agent?.model ?? 'the agent’s own choice'],
        ['Effort', agent?.effort ?? 'the agent’s own choice'],
        ['Agents', list(agents.map((agent) => `${agent.name} (${stateWords(agent)})`))],
        ['Used', `${groupDigits(tokens.used)} tokens${cost}`],
        ['Sandbox', missing === undefined ? 'works on this machine' : `none: ${missing}`],
        ['Hub', namedHub(io, settings) ?? runningHubUrl(place.home) ?? 'none runs on this machine'],
      ]
      say(block(table(rows)), 'text')
    },
  }
}
