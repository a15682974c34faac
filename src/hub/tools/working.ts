import type { Clock } from '../../base/clock.ts'
import type { Tool } from '../../core/work/tool.ts'
import type { Hub } from '../hub.ts'
import { about, anything, integer, list, number, oneOf, optional, parser, string } from '../../core/work/shape.ts'
import { checkTicket, taskIdOf } from '../ticket.ts'
import { hubTool } from './made.ts'
import { agentOf, promptOf, taskOf } from './told.ts'

const sources = ['CLI', 'IDE'] as const
const statuses = ['COMPLETED', 'FAILED', 'BLOCKED', 'IN_REVIEW'] as const
const agentId = string({ min: 1 })
const taskId = about('As wait_for_prompt gave it.', string({ min: 1 }))

/** What an agent that does tasks calls. */
export function workingTools(hub: Hub, clock: Clock): Tool[] {
  const mine = (ticket: string) => {
    const id = taskIdOf(ticket)
    checkTicket(ticket, hub.task(id))
    return id
  }
  return [
    hubTool(
      'register_agent',
      'write',
      'Tell the hub who you are. Call it once, before wait_for_prompt.',
      parser({
        agentId,
        role: string({ min: 1 }),
        displayName: optional(string()),
        capabilities: list(string({ min: 1 })),
        workspaceContext: about('The project you work in: its real path.', string({ min: 1 })),
        source: oneOf(...sources),
      }),
      async ({ agentId, role, displayName, capabilities, workspaceContext, source }) => {
        const name = displayName === undefined ? {} : { name: displayName }
        await hub.register({ id: agentId, role, ...name, capabilities, workspace: workspaceContext, source })
        return agentOf(hub, agentId)
      },
    ),
    hubTool(
      'wait_for_prompt',
      'write',
      'Wait for your next task. status TASK: acknowledge it with ack_task, then do it. MESSAGE: heed it, then wait again. IDLE: call it again. EVICT: stop working.',
      parser({ agentId, timeout: optional(about('Seconds; default 290.', number(0))) }),
      async ({ agentId, timeout = 290 }, call) => {
        const until = Math.min(clock.now() + timeout * 1000, call.until)
        const given = await hub.wait(agentId, until, call.signal)
        if (given.type === 'task') return promptOf(given.task)
        if (given.type === 'told') return { status: 'MESSAGE', message: given.text }
        return given.type === 'evict' ? { status: 'EVICT', message: given.why } : { status: 'IDLE' }
      },
    ),
    hubTool(
      'ack_task',
      'write',
      'Say that you have the task and begin. Without it the task goes back after 30 seconds.',
      parser({ taskId, agentId }),
      async ({ taskId, agentId }) => taskOf(await hub.ack(mine(taskId), agentId)),
    ),
    hubTool(
      'update_progress',
      'write',
      'Tell how far you are. Do so at least every 20 minutes: a silent task is given to somebody else.',
      parser({
        taskId,
        message: string({ min: 1 }),
        percentage: optional(integer(0, 100)),
        agentId: optional(agentId),
      }),
      async ({ taskId, message, percentage, agentId }) =>
        taskOf(await hub.progress(mine(taskId), agentId, message, percentage)),
    ),
    hubTool(
      'block_task',
      'write',
      'You cannot go on without an answer: ask. Then wait_for_prompt; the task comes back with the answer.',
      parser({ taskId, reason: string({ min: 1 }), question: string({ min: 1 }), agentId: optional(agentId) }),
      async ({ taskId, reason, question, agentId }) => taskOf(await hub.block(mine(taskId), agentId, reason, question)),
    ),
    hubTool(
      'send_response',
      'write',
      'End your task: COMPLETED, IN_REVIEW when somebody should look at your diff first, FAILED with the reason, or BLOCKED with the question.',
      parser({
        taskId,
        status: oneOf(...statuses),
        message: string({ min: 1 }),
        artifacts: optional(list(anything())),
        diff: optional(string()),
        agentId: optional(agentId),
      }),
      async ({ taskId, agentId, ...response }) => taskOf(await hub.respond(mine(taskId), agentId, response)),
    ),
  ]
}
