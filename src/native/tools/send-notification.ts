import type { Tool } from '../../core/work/tool.ts'
import type { Notification } from '../../core/talk/entry.ts'
import { defined } from '../../base/defined.ts'
import { reportStatuses } from '../../core/talk/entry.ts'
import { defineTool } from './shared/tool-definition.ts'
import { oneOf, optional, parser, string } from '../../core/data/shape.ts'

const input = parser({
  status: oneOf(...reportStatuses),
  summary: string({ min: 1 }),
  final_response: optional(string()),
})

/**
 * Reports to the person, or to the agent that sent this one: the loop finds the notification in the result's data and turns it into an
 * event. If the agent leads a turn, the event goes to the person; if another agent sent it, the event goes only to that agent.
 */
export function sendNotification(): Tool {
  return defineTool({
    name: 'send_notification',
    // A notification changes nothing, but it disturbs a person, which a planner must not do.
    risk: 'run',
    onDemand: 'always',
    reports: true,
    input,
    effect: () => ({ does: 'nothing' }),
    async run({ status, summary, final_response }) {
      const notification: Notification = defined({ type: 'notification', status, text: summary, final: final_response })
      return {
        text: 'The notification was handed on. Nobody answers it: go on with your work.',
        data: { notification },
      }
    },
  })
}
