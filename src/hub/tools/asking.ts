import type { Clock } from '../../base/clock.ts'
import type { Tool } from '../../core/work/tool.ts'
import type { Hub } from '../hub.ts'
import { about, integer, list, number, optional, parser, string } from '../../core/work/shape.ts'
import { isOver } from '../states.ts'
import { taskIdOf } from '../ticket.ts'
import { hubTool } from './made.ts'
import { agentOf, taskOf } from './told.ts'

const id = string({ min: 1 })

/** What whoever gives out work, answers or looks on calls; `by` is who that is. */
export function askingTools(hub: Hub, clock: Clock, by: string): Tool[] {
  return [
    hubTool(
      'assign_task',
      'write',
      'Put a task into the queue. It goes to a waiting agent of that workspace that has the capabilities.',
      parser({
        prompt: string({ min: 1 }),
        workspaceId: id,
        targetAgentId: optional(about('For this agent, as long as it is about.', id)),
        requiredCapabilities: optional(list(id)),
        priority: optional(about('More goes first; default 0.', integer(-100, 100))),
        dependencies: optional(about('Tasks that must be done before.', list(id))),
      }),
      async ({ prompt, workspaceId, targetAgentId, requiredCapabilities, priority, dependencies }) =>
        taskOf(
          await hub.add({
            prompt,
            workspace: workspaceId,
            by,
            ...(targetAgentId === undefined ? {} : { wish: targetAgentId }),
            ...(requiredCapabilities ? { capabilities: requiredCapabilities } : {}),
            ...(priority === undefined ? {} : { priority }),
            ...(dependencies ? { needs: dependencies } : {}),
          }),
        ),
    ),
    hubTool(
      'answer_task',
      'write',
      'Answer what a blocked task asks.',
      parser({ taskId: id, answer: id }),
      async (input) => taskOf(await hub.answer(taskIdOf(input.taskId), input.answer, by)),
    ),
    hubTool('get_task_context', 'read', 'All that is known of a task.', parser({ taskId: id }), async ({ taskId }) => {
      const task = hub.task(taskIdOf(taskId))
      return { ...taskOf(task), history: task.history, dependsOn: task.needs.map((need) => taskOf(hub.task(need))) }
    }),
    hubTool(
      'wait_for_task',
      'read',
      'Wait until a task is over, blocked or in review; done false: call it again.',
      parser({ taskId: id, timeout: optional(about('Seconds; default 290.', number(0))) }),
      async ({ taskId, timeout = 290 }, call) => {
        const until = Math.min(clock.now() + timeout * 1000, call.until)
        const task = await hub.settled(taskIdOf(taskId), until, call.signal)
        return { done: isOver(task), ...taskOf(task) }
      },
    ),
    hubTool('list_agents', 'read', 'Every agent that is registered.', parser({}), async () => ({
      agents: hub.agents().map((agent) => agentOf(hub, agent.id)),
    })),
    hubTool('get_agent_status', 'read', 'One agent.', parser({ agentId: id }), async ({ agentId }) =>
      agentOf(hub, agentId),
    ),
    hubTool(
      'broadcast_system_prompt',
      'write',
      'Tell every agent, or those of one workspace, something; each hears it when it next waits.',
      parser({ message: string({ min: 1 }), workspaceId: optional(id) }),
      async ({ message, workspaceId }) => ({ told: await hub.broadcast(message, workspaceId) }),
    ),
    hubTool(
      'add_review_comment',
      'write',
      'Say something about a task and its diff.',
      parser({ taskId: id, comment: string({ min: 1 }) }),
      async ({ taskId, comment }) => taskOf(await hub.comment(taskIdOf(taskId), comment, by)),
    ),
    hubTool(
      'get_review_comments',
      'read',
      'What was said about a task.',
      parser({ taskId: id }),
      async ({ taskId }) => ({
        comments: hub.task(taskIdOf(taskId)).notes.filter(({ kind }) => kind === 'comment'),
      }),
    ),
  ]
}
