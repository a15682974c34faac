import type { Clock } from '../base/clock.ts'
import type { HubCaller } from '../core/work/hub-key.ts'
import type { Parser } from '../core/work/shape.ts'
import type { Task } from '../core/work/task.ts'
import type { Risk, Tool, ToolCall } from '../core/work/tool.ts'
import type { HubOperation } from './hub-roles.ts'
import type { Hub } from './hub.ts'
import { defined } from '../base/defined.ts'
import { about, anything, integer, list, number, oneOf, optional, parser, string } from '../core/work/shape.ts'
import { agentOf, mayDo } from './hub-roles.ts'
import { checkTicket, isFinished, taskIdOf, ticketOf } from './task-rules.ts'

/** A tool of the hub and the operation of the table of roles that it is. */
export type HubTool = Tool & { operation: HubOperation }

/** The hub's tools that the caller's role may call: one row here and one method of the hub each. */
export function hubTools(hub: Hub, clock: Clock, caller: HubCaller): HubTool[] {
  const mine = [...workerTools(hub, clock, caller), ...coordinatorTools(hub, clock, caller.name)].filter(
    ({ operation }) => mayDo(caller.role, operation),
  )
  return mine.map((tool) => {
    if (tool.risk !== 'read') return tool
    const run: Tool['run'] = async (input, call) => {
      await hub.kept()
      return tool.run(input, call)
    }
    return { ...tool, run }
  })
}

const id = string({ min: 1 })
const text = string({ min: 1 })
const agentId = id
const ownId = optional(about('Your own name at the hub, which your key decides. May be left out.', id))
const ticket = about('The taskId that wait_for_prompt returned.', id)
const timeout = optional(about('Seconds to wait at most. Default 290.', number(0)))

/** The tools of an agent that does tasks. */
function workerTools(hub: Hub, clock: Clock, caller: HubCaller): HubTool[] {
  const own = (named: string | undefined) => agentOf(caller, named)
  const ownTask = (ticket: string) => {
    const id = taskIdOf(ticket)
    checkTicket(ticket, hub.task(id))
    return id
  }
  return [
    hubTool(
      'register_agent',
      'register',
      'write',
      'Register with the hub. Call this once, before wait_for_prompt.',
      parser({
        agentId: ownId,
        role: text,
        displayName: optional(string()),
        capabilities: list(text),
        workspaceContext: about('The real path of the project you work in.', text),
        source: oneOf('CLI', 'IDE'),
      }),
      async ({ agentId, role, displayName, capabilities, workspaceContext, source }) => {
        const id = own(agentId)
        await hub.register({
          id,
          role,
          name: displayName,
          capabilities,
          workspace: workspaceContext,
          source,
        })
        return agentView(hub, id)
      },
    ),
    hubTool(
      'wait_for_prompt',
      'take',
      'write',
      'Wait for your next task. Status TASK: acknowledge the task with ack_task, then do it. MESSAGE: follow the message, then call wait_for_prompt again. IDLE: there is no task yet, call wait_for_prompt again. EVICT: stop working.',
      parser({ agentId: ownId, timeout }),
      async ({ agentId, timeout = 290 }, call) => {
        const until = Math.min(clock.elapsed() + timeout * 1000, call.until)
        const given = await hub.wait(own(agentId), until, call.signal)
        if (given.type === 'task') return promptView(given.task)
        if (given.type === 'told') return { status: 'MESSAGE', message: given.text }
        return given.type === 'evict' ? { status: 'EVICT', message: given.why } : { status: 'IDLE' }
      },
    ),
    hubTool(
      'ack_task',
      'take',
      'write',
      'Acknowledge a task before you begin with it. A task that is not acknowledged within 30 seconds is given to another agent.',
      parser({ taskId: ticket, agentId: ownId }),
      async ({ taskId, agentId }) => taskView(await hub.ack(ownTask(taskId), own(agentId))),
    ),
    hubTool(
      'update_progress',
      'report',
      'write',
      'Report your progress, at least every 20 minutes: a task without news for 30 minutes is given to another agent.',
      parser({ taskId: ticket, message: text, percentage: optional(integer(0, 100)), agentId: ownId }),
      async ({ taskId, message, percentage, agentId }) =>
        taskView(await hub.progress(ownTask(taskId), own(agentId), message, percentage)),
    ),
    hubTool(
      'block_task',
      'ask',
      'write',
      'Ask a question that you need answered before you can go on. Then call wait_for_prompt: the task comes back with the answer.',
      parser({ taskId: ticket, reason: text, question: text, agentId: ownId }),
      async ({ taskId, reason, question, agentId }) =>
        taskView(await hub.block(ownTask(taskId), own(agentId), reason, question)),
    ),
    hubTool(
      'send_response',
      'report',
      'write',
      'End your task with a status: COMPLETED; IN_REVIEW when somebody should look at your diff first; FAILED with the reason as the message; BLOCKED with your question as the message.',
      parser({
        taskId: ticket,
        status: oneOf('COMPLETED', 'FAILED', 'BLOCKED', 'IN_REVIEW'),
        message: text,
        artifacts: optional(list(anything())),
        diff: optional(string()),
        agentId: ownId,
      }),
      async ({ taskId, agentId, ...response }) => taskView(await hub.respond(ownTask(taskId), own(agentId), response)),
    ),
  ]
}

/** The tools of a model that gives out tasks, answers questions or looks on. */
function coordinatorTools(hub: Hub, clock: Clock, by: string): HubTool[] {
  return [
    hubTool(
      'assign_task',
      'add',
      'write',
      'Add a task to the queue. A waiting agent of that workspace with the required capabilities gets it.',
      parser({
        prompt: text,
        workspaceId: id,
        targetAgentId: optional(about('The agent that should do the task, as long as it is present.', id)),
        requiredCapabilities: optional(list(id)),
        priority: optional(about('Tasks with a higher priority go first. Default 0.', integer(-100, 100))),
        dependencies: optional(about('Ids of the tasks that must be done first.', list(id))),
      }),
      async ({ prompt, workspaceId, targetAgentId, requiredCapabilities, priority, dependencies }) =>
        taskView(
          await hub.add({
            prompt,
            workspace: workspaceId,
            by,
            wish: targetAgentId,
            capabilities: requiredCapabilities,
            priority,
            needs: dependencies,
          }),
        ),
    ),
    hubTool(
      'answer_task',
      'answer',
      'write',
      'Answer the question of a blocked task.',
      parser({ taskId: id, answer: id }),
      async (input) => taskView(await hub.answer(taskIdOf(input.taskId), input.answer, by)),
    ),
    hubTool(
      'get_task_context',
      'read',
      'read',
      'Get a task with its notes, its history and the tasks that it depends on.',
      parser({ taskId: id }),
      async ({ taskId }) => {
        const task = hub.task(taskIdOf(taskId))
        return {
          ...taskView(task),
          history: task.history,
          dependsOn: task.needs.map((need) => taskView(hub.task(need))),
        }
      },
    ),
    hubTool(
      'wait_for_task',
      'read',
      'read',
      'Wait until a task is finished, blocked or in review. When done is false and the task is still at work, call wait_for_task again.',
      parser({ taskId: id, timeout }),
      async ({ taskId, timeout = 290 }, call) => {
        const until = Math.min(clock.elapsed() + timeout * 1000, call.until)
        const task = await hub.settled(taskIdOf(taskId), until, call.signal)
        return { done: isFinished(task), ...taskView(task) }
      },
    ),
    hubTool('list_agents', 'read', 'read', 'List all registered agents.', parser({}), async () => ({
      agents: hub.agents().map((agent) => agentView(hub, agent.id)),
    })),
    hubTool('get_agent_status', 'read', 'read', 'Get one registered agent.', parser({ agentId }), async ({ agentId }) =>
      agentView(hub, agentId),
    ),
    hubTool(
      'broadcast_system_prompt',
      'broadcast',
      'write',
      'Send a message to all agents, or to the agents of one workspace. Each agent gets it the next time it waits.',
      parser({ message: text, workspaceId: optional(id) }),
      async ({ message, workspaceId }) => ({ told: await hub.broadcast(message, workspaceId) }),
    ),
    hubTool(
      'add_review_comment',
      'comment',
      'write',
      'Add a comment to a task and its diff.',
      parser({ taskId: id, comment: text }),
      async ({ taskId, comment }) => taskView(await hub.comment(taskIdOf(taskId), comment, by)),
    ),
    hubTool(
      'get_review_comments',
      'read',
      'read',
      'Get the review comments on a task.',
      parser({ taskId: id }),
      async ({ taskId }) => ({
        comments: hub.task(taskIdOf(taskId)).notes.filter(({ kind }) => kind === 'comment'),
      }),
    ),
  ]
}

/** A tool whose result is one object, which is shown as JSON and handed over as data. */
function hubTool<I>(
  name: string,
  operation: HubOperation,
  risk: Risk,
  description: string,
  input: Parser<I>,
  run: (input: I, call: ToolCall) => Promise<object>,
): HubTool {
  return {
    name,
    operation,
    description,
    schema: input.schema,
    risk,
    parse: input.parse,
    async run(read, call) {
      const data = await run(read as I, call)
      return { text: JSON.stringify(data), data }
    },
  }
}

/** A task as its agent gets it. */
function promptView(task: Task) {
  return defined({
    status: 'TASK',
    taskId: ticketOf(task),
    prompt: task.prompt,
    workspaceId: task.workspace,
    priority: task.priority,
    notes: task.notes.length > 0 ? task.notes.map(({ by, kind, text }) => ({ by, kind, text })) : undefined,
    returns: task.returns > 0 ? task.returns : undefined,
  })
}

/** A task as every other reader gets it. */
function taskView(task: Task) {
  const { id, state, why, agent, prompt, workspace, priority, needs, question, result, notes, created, moved } = task
  return defined({
    taskId: id,
    status: state,
    why,
    agentId: agent,
    prompt,
    workspaceId: workspace,
    priority,
    dependencies: needs.length > 0 ? needs : undefined,
    question,
    response: result,
    notes,
    created: new Date(created).toISOString(),
    since: new Date(moved).toISOString(),
  })
}

function agentView(hub: Hub, id: string) {
  const { role, name, capabilities, workspace, source, seen, tokens, cost, asks } = hub.agent(id)
  const { waits, about, task } = hub.standing(id)
  return defined({
    agentId: id,
    role,
    displayName: name,
    capabilities,
    workspaceContext: workspace,
    source,
    status: task ? 'WORKING' : waits ? 'WAITING' : about ? 'ABOUT' : 'AWAY',
    taskId: task?.id,
    question: asks?.text,
    lastSeen: new Date(seen).toISOString(),
    tokens,
    cost,
  })
}
