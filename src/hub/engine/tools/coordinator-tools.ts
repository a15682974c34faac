import type { Clock } from '../../../base/time/clock.ts'
import type { Task } from '../../model/tasks/task.ts'
import type { Hub } from '../hub.ts'
import type { AddedPlan } from '../../model/plans/schedule.ts'
import type { HubTool } from '../access/hub-tool.ts'
import { defined } from '../../../base/defined.ts'
import { newId } from '../../../base/id.ts'
import { groupDigits } from '../../../base/text/number-words.ts'
import { about, integer, numberAbove, optional, parser } from '../../../core/data/shape.ts'
import { picksOf } from '../rules/question-picks.ts'
import { isFinished, taskIdOf } from '../rules/task-rules.ts'
import { taskQuestion } from '../../model/tasks/task-question.ts'
import { inputOf } from '../../model/operations/operations.ts'
import { text } from '../../model/operations/input-shapes.ts'
import { hubTool, timeout } from '../access/hub-tool.ts'
import { agentView, taskView } from './tool-views.ts'

/** The caller's own name for a call: repeating the call with the same name has no further effect. */
const requestId = optional(
  about('Your own name for this call. If you repeat the call because its answer was lost, send the same name.', text),
)

/** The tools of a model that gives out tasks, answers questions or observes. */
export function coordinatorTools(hub: Hub, clock: Clock, by: string): HubTool[] {
  const added = inputOf('POST /api/tasks')
  return [
    hubTool(
      'assign_task',
      'POST /api/tasks',
      'write',
      'Add a task to the queue. A waiting agent of that workspace with the required capabilities gets it.',
      parser({
        prompt: added.prompt,
        workspaceId: added.workspace,
        targetAgentId: about('The agent that should do the task, as long as it is present.', added.wish),
        requiredCapabilities: added.capabilities,
        priority: about('Tasks with a higher priority go first. Default 0.', added.priority),
        dependencies: about('Ids of the tasks that must be done first.', added.needs),
        maxCost: optional(about('Dollars after which the task is paused and a person is asked.', numberAbove(0))),
        maxTokens: optional(about('Tokens after which the task is paused and a person is asked.', integer(1))),
        requestId,
      }),
      async ({
        prompt,
        workspaceId,
        targetAgentId,
        requiredCapabilities,
        priority,
        dependencies,
        maxCost,
        maxTokens,
        requestId: key,
      }) =>
        taskView(
          await hub.add(
            {
              prompt,
              workspace: workspaceId,
              by,
              wish: targetAgentId,
              capabilities: requiredCapabilities,
              priority,
              needs: dependencies,
              cap: maxCost === undefined && maxTokens === undefined ? undefined : { cost: maxCost, tokens: maxTokens },
            },
            key,
          ),
        ),
    ),
    hubTool(
      'add_pipeline',
      'POST /api/pipelines',
      'write',
      'Add all tasks of a plan to the queue, or none if the plan has a mistake; every mistake is named with its line. A plan with a schedule begins later, again and again.',
      parser({
        plan: about(
          'The text of the plan in YAML: its name, and tasks with name, prompt and, if they wait for others, needs. The page pipelines of the termaite manual describes all fields.',
          text,
        ),
        workspaceId: text,
        pipelineId: optional(
          about(
            'An id of your own with 8 to 60 letters, digits, "_" and "-": a call that is repeated with it adds nothing.',
            text,
          ),
        ),
        timeZone: optional(about('The zone of times without one, such as Europe/Berlin. Default UTC.', text)),
      }),
      async ({ plan, workspaceId, pipelineId, timeZone }) => {
        const now = clock.now()
        const sent = { id: pipelineId ?? newId(now), text: plan, workspace: workspaceId, zone: timeZone, by, now }
        return planView(hub, await hub.pipelines.addText(defined(sent)))
      },
    ),
    hubTool(
      'answer_task',
      'POST /api/tasks/:id/answer',
      'write',
      'Answer the question of a blocked task.',
      parser({ taskId: text, answer: text, requestId }),
      async ({ taskId, answer, requestId: key }) => {
        const id = taskIdOf(taskId)
        const [task, agents] = await Promise.all([hub.task(id), hub.agents()])
        return taskView(await hub.questions.answer(id, picksOf(taskQuestion(task, agents), answer), by, key))
      },
    ),
    hubTool(
      'get_task_context',
      'GET /api/tasks/:id',
      'read',
      'Get a task with its newest notes, its history, the tasks that it depends on, and the diff of its last try.',
      parser({ taskId: text }),
      async ({ taskId }) => {
        const task = await hub.task(taskIdOf(taskId))
        const needs = await Promise.all(task.needs.map((need) => hub.task(need)))
        return {
          ...taskView(task),
          ...(await lastDiff(hub, task)),
          history: task.history,
          dependsOn: needs.map(taskView),
        }
      },
    ),
    hubTool(
      'wait_for_task',
      'GET /api/tasks/:id/wait',
      'read',
      'Wait until a task is finished, blocked or in review. When done is false and the task is still at work, call wait_for_task again.',
      parser({ taskId: text, timeout }),
      async ({ taskId, timeout = 290 }, call) => {
        const until = Math.min(clock.elapsed() + timeout * 1000, call.until)
        const task = await hub.settled(taskIdOf(taskId), until, call.signal)
        return { done: isFinished(task), ...taskView(task) }
      },
    ),
    hubTool('list_agents', 'GET /api/agents', 'read', 'List all registered agents.', parser({}), async () => ({
      agents: (await hub.agents()).map((agent) => agentView(agent, clock)),
    })),
    hubTool(
      'get_agent_status',
      'GET /api/agents/:id',
      'read',
      'Get one registered agent.',
      parser({ agentId: text }),
      async ({ agentId }) => agentView(await hub.agentNow(agentId), clock),
    ),
    hubTool(
      'broadcast_system_prompt',
      'POST /api/broadcast',
      'write',
      'Send a message to all agents, or to the agents of one workspace. Each agent gets it the next time it waits.',
      parser({ message: text, workspaceId: optional(text), requestId }),
      async ({ message, workspaceId, requestId: key }) => ({
        told: await hub.orders.broadcast(message, by, workspaceId, key),
      }),
    ),
    hubTool(
      'add_review_comment',
      'POST /api/tasks/:id/comment',
      'write',
      'Add a comment to a task and its diff.',
      parser({ taskId: text, comment: text, requestId }),
      async ({ taskId, comment, requestId: key }) =>
        taskView(await hub.reviews.comment(taskIdOf(taskId), by, comment, undefined, key)),
    ),
    hubTool(
      'get_review_comments',
      'GET /api/tasks/:id/comments',
      'read',
      'Get the review comments on a task.',
      parser({ taskId: text }),
      async ({ taskId }) => ({
        comments: (await hub.task(taskIdOf(taskId))).notes.filter(({ kind }) => kind === 'comment'),
      }),
    ),
  ]
}

/** The result of adding a plan: the tasks of its pipeline, or the next time of its schedule. */
async function planView(hub: Hub, { pipeline, schedule }: AddedPlan) {
  if (schedule) {
    const { id, name, next } = schedule
    const time = next === undefined ? undefined : new Date(next).toISOString()
    return defined({ scheduleId: id, name, status: 'SCHEDULED', next: time })
  }
  const tasks = await hub.pipelines.tasksOf(pipeline)
  return {
    pipelineId: pipeline.id,
    name: pipeline.name,
    status: 'QUEUED',
    tasks: tasks.map((task) => ({ taskId: task.id, name: task.pipeline?.name, dependencies: task.needs })),
  }
}

/** The most characters of a diff that a tool returns. */
const mostDiff = 60_000

/** The diff of the last try that has one; a long diff is cut, with a note where the rest is. */
async function lastDiff(hub: Hub, task: Task): Promise<{ diff?: string }> {
  const last = task.tries?.findLast(({ diff }) => diff)
  if (!last?.diff) return {}
  const text = await hub.texts.beginning(last.diff, mostDiff)
  if (text.length < last.diff.bytes && text.length >= mostDiff)
    return {
      diff: `${text}\n[Cut: these are the first ${groupDigits(mostDiff)} characters of ${groupDigits(last.diff.bytes)} bytes. The whole diff: termaite task diff ${task.id.slice(-8)}${last.branch === undefined ? '' : `, or the branch ${last.branch}`}.]`,
    }
  return { diff: text }
}
