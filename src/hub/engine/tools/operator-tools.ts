import type { Clock } from '../../../base/time/clock.ts'
import type { Hub } from '../hub.ts'
import type { HubTool } from '../access/hub-tool.ts'
import { wholeHub } from '../../model/tasks/machine-rules.ts'
import { about, optional, parser } from '../../../core/data/shape.ts'
import { machineNamed } from '../operator-orders.ts'
import { inputOf } from '../../model/operations/operations.ts'
import { text } from '../../model/operations/input-shapes.ts'
import { hubTool } from '../access/hub-tool.ts'
import { agentView } from './tool-views.ts'

/** The tools of an operator: they pause an agent, the agents of a machine or the whole hub, until a resume. */
export function operatorTools(hub: Hub, clock: Clock, by: string): HubTool[] {
  const { operators } = hub
  const pause = inputOf('POST /api/agents/:id/pause')
  const rules = inputOf('POST /api/machines/:id/rules')
  const why = about('Shown to everybody whose tasks wait.', pause.why)
  const drain = about('Also say that you wait until the tasks that it has are done.', pause.drain)
  const machine = optional(about('The machine. Leave it out for the whole hub.', text))
  const target = (name: string | undefined) => (name === undefined ? wholeHub : machineNamed(name))
  return [
    hubTool(
      'pause_agent',
      'POST /api/agents/:id/pause',
      'write',
      'Give an agent no new tasks until it is resumed. The task that it has goes on.',
      parser({ agentId: text, reason: why, drain }),
      async (input) => {
        await operators.pauseAgent(input.agentId, { by, why: input.reason, drains: input.drain })
        return agentView(await hub.agentNow(input.agentId), clock)
      },
    ),
    hubTool(
      'resume_agent',
      'POST /api/agents/:id/resume',
      'write',
      'Give tasks to a paused agent again.',
      parser({ agentId: text }),
      async (input) => {
        await operators.resumeAgent(input.agentId)
        return agentView(await hub.agentNow(input.agentId), clock)
      },
    ),
    hubTool(
      'pause_machine',
      'POST /api/machines/:id/pause',
      'write',
      'Give the agents of a machine, or of the whole hub, no new tasks until it is resumed. Tasks that they have go on.',
      parser({ machineName: machine, reason: why, drain }),
      async (input) => operators.pause(target(input.machineName), { by, why: input.reason, drains: input.drain }),
    ),
    hubTool(
      'resume_machine',
      'POST /api/machines/:id/resume',
      'write',
      'Give tasks to the agents of a paused machine, or of the paused hub, again.',
      parser({ machineName: machine }),
      async (input) => operators.resume(target(input.machineName)),
    ),
    hubTool(
      'set_machine',
      'POST /api/machines/:id/rules',
      'write',
      'Set the labels of a machine, which count as capabilities of its agents, and the most tasks that its agents have at once.',
      parser({
        machineName: text,
        labels: about('All labels of the machine; an empty list takes them away.', rules.labels),
        limit: about('0 for no limit.', rules.limit),
      }),
      async ({ machineName, ...wish }) => operators.set(machineNamed(machineName), wish),
    ),
  ]
}
