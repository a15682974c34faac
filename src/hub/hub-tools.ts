import type { Clock } from '../base/clock.ts'
import type { Shape } from '../core/work/shape.ts'
import type { Task } from '../core/work/task.ts'
import type { Risk, Tool, ToolCall } from '../core/work/tool.ts'
import type { Hub } from './hub.ts'
import { about, anything, integer, list, number, oneOf, optional, shape, string } from '../core/work/shape.ts'
import { checkTicket, isOver, taskIdOf, ticketOf } from './task-rules.ts'

/** The hub as a model meets it; `by` is whoever calls. */
export function hubTools(hub: Hub, clock: Clock, by: string): Tool[] {
  return [...workingTools(hub, clock), ...askingTools(hub, clock, by)].map((tool) => {
    if (tool.risk !== 'read') return tool
    const run: Tool['run'] = async (input, call) => {
      await hub.kept()
      return tool.run(input, call)
    }
    return { ...tool, run }
  })
}

/** A tool of the hub: what it gives is one object, shown as JSON and handed over as data. */
export function hubTool<I>(
  name: string,
  risk: Risk,
  description: string,
  input: Shape<I>,
  run: (input: I, call: ToolCall) => Promise<object>,
): Tool {
  return {
    name,
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

/** A task as an agent that is to do it is told of it. */
export function promptOf(task: Task) {
  return {
    status: 'TASK',
    taskId: ticketOf(task),
    prompt: task.prompt,
    workspaceId: task.workspace,
    priority: task.priority,
    ...(task.notes.length > 0 ? { notes: task.notes.map(({ by, kind, text }) => ({ by, kind, text })) } : {}),
    ...(task.returns > 0 ? { returns: task.returns } : {}),
  }
}

/** A task as anybody may see it. */
export function taskOf(task: Task) {
  const { id, state, why, agent, prompt, workspace, priority, needs, question, result, notes, created, moved } = task
  return {
    taskId: id,
    status: state,
    ...(why === undefined ? {} : { why }),
    ...(agent === undefined ? {} : { agentId: agent }),
    prompt,
    workspaceId: workspace,
    priority,
    ...(needs.length > 0 ? { dependencies: needs } : {}),
    ...(question === undefined ? {} : { question }),
    ...(result ? { response: result } : {}),
    notes,
    created: new Date(created).toISOString(),
    since: new Date(moved).toISOString(),
  }
}

export function agentOf(hub: Hub, id: string) {
  const { role, name, capabilities, workspace, source, seen, tokens, cost } = hub.agent(id)
  const { waits, about, task } = hub.standing(id)
  return {
    agentId: id,
    role,
    ...(name === undefined ? {} : { displayName: name }),
    capabilities,
    workspaceContext: workspace,
    source,
    status: task ? 'WORKING' : waits ? 'WAITING' : about ? 'ABOUT' : 'AWAY',
    ...(task ? { taskId: task.id } : {}),
    lastSeen: new Date(seen).toISOString(),
    ...(tokens === undefined ? {} : { tokens }),
    ...(cost === undefined ? {} : { cost }),
  }
}

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
      shape({
        agentId,
        role: string({ min: 1 }),
        displayName: optional(string()),
        capabilities: list(string({ min: 1 }), 0),
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
      shape({ agentId, timeout: optional(about('Seconds; default 290.', number(0))) }),
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
      shape({ taskId, agentId }),
      async ({ taskId, agentId }) => taskOf(await hub.ack(mine(taskId), agentId)),
    ),
    hubTool(
      'update_progress',
      'write',
      'Tell how far you are. Do so at least every 20 minutes: a silent task is given to somebody else.',
      shape({ taskId, message: string({ min: 1 }), percentage: optional(integer(0, 100)), agentId: optional(agentId) }),
      async ({ taskId, message, percentage, agentId }) =>
        taskOf(await hub.progress(mine(taskId), agentId, message, percentage)),
    ),
    hubTool(
      'block_task',
      'write',
      'You cannot go on without an answer: ask. Then wait_for_prompt; the task comes back with the answer.',
      shape({ taskId, reason: string({ min: 1 }), question: string({ min: 1 }), agentId: optional(agentId) }),
      async ({ taskId, reason, question, agentId }) => taskOf(await hub.block(mine(taskId), agentId, reason, question)),
    ),
    hubTool(
      'send_response',
      'write',
      'End your task: COMPLETED, IN_REVIEW when somebody should look at your diff first, FAILED with the reason, or BLOCKED with the question.',
      shape({
        taskId,
        status: oneOf(...statuses),
        message: string({ min: 1 }),
        artifacts: optional(list(anything(), 0)),
        diff: optional(string()),
        agentId: optional(agentId),
      }),
      async ({ taskId, agentId, ...response }) => taskOf(await hub.respond(mine(taskId), agentId, response)),
    ),
  ]
}

const id = string({ min: 1 })

/** What whoever gives out work, answers or looks on calls; `by` is who that is. */
export function askingTools(hub: Hub, clock: Clock, by: string): Tool[] {
  return [
    hubTool(
      'assign_task',
      'write',
      'Put a task into the queue. It goes to a waiting agent of that workspace that has the capabilities.',
      shape({
        prompt: string({ min: 1 }),
        workspaceId: id,
        targetAgentId: optional(about('For this agent, as long as it is about.', id)),
        requiredCapabilities: optional(list(id, 0)),
        priority: optional(about('More goes first; default 0.', integer(-100, 100))),
        dependencies: optional(about('Tasks that must be done before.', list(id, 0))),
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
      shape({ taskId: id, answer: id }),
      async (input) => taskOf(await hub.answer(taskIdOf(input.taskId), input.answer, by)),
    ),
    hubTool('get_task_context', 'read', 'All that is known of a task.', shape({ taskId: id }), async ({ taskId }) => {
      const task = hub.task(taskIdOf(taskId))
      return { ...taskOf(task), history: task.history, dependsOn: task.needs.map((need) => taskOf(hub.task(need))) }
    }),
    hubTool(
      'wait_for_task',
      'read',
      'Wait until a task is over, blocked or in review; done false: call it again.',
      shape({ taskId: id, timeout: optional(about('Seconds; default 290.', number(0))) }),
      async ({ taskId, timeout = 290 }, call) => {
        const until = Math.min(clock.now() + timeout * 1000, call.until)
        const task = await hub.settled(taskIdOf(taskId), until, call.signal)
        return { done: isOver(task), ...taskOf(task) }
      },
    ),
    hubTool('list_agents', 'read', 'Every agent that is registered.', shape({}), async () => ({
      agents: hub.agents().map((agent) => agentOf(hub, agent.id)),
    })),
    hubTool('get_agent_status', 'read', 'One agent.', shape({ agentId: id }), async ({ agentId }) =>
      agentOf(hub, agentId),
    ),
    hubTool(
      'broadcast_system_prompt',
      'write',
      'Tell every agent, or those of one workspace, something; each hears it when it next waits.',
      shape({ message: string({ min: 1 }), workspaceId: optional(id) }),
      async ({ message, workspaceId }) => ({ told: await hub.broadcast(message, workspaceId) }),
    ),
    hubTool(
      'add_review_comment',
      'write',
      'Say something about a task and its diff.',
      shape({ taskId: id, comment: string({ min: 1 }) }),
      async ({ taskId, comment }) => taskOf(await hub.comment(taskIdOf(taskId), comment, by)),
    ),
    hubTool(
      'get_review_comments',
      'read',
      'What was said about a task.',
      shape({ taskId: id }),
      async ({ taskId }) => ({
        comments: hub.task(taskIdOf(taskId)).notes.filter(({ kind }) => kind === 'comment'),
      }),
    ),
  ]
}
