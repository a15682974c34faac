import type { Clock } from '../../../base/time/clock.ts'
import type { HubCaller } from '../../model/access/hub-key.ts'
import type { HubKeys } from '../access/hub-keys.ts'
import type { Task } from '../../model/tasks/task.ts'
import type { Hub } from '../hub.ts'
import type { Response } from '../task-work.ts'
import type { HubTool } from '../access/hub-tool.ts'
import { about, integer, list, object, oneOf, optional, parser, string } from '../../../core/data/shape.ts'
import { mostChecks } from '../../model/tasks/task-try.ts'
import { agentOf } from '../access/hub-roles.ts'
import { taskIdOf } from '../rules/task-rules.ts'
import { inputOf } from '../../model/operations/operations.ts'
import { text } from '../../model/operations/input-shapes.ts'
import { hubTool, timeout } from '../access/hub-tool.ts'
import { agentView, promptView, taskView } from './tool-views.ts'

/** The sources outside the ledger that the agents' tools need: the folders and branches of this machine, and the hub's keys. */
export type Registry = {
  /** The keys of a folder if it is on the hub's machine: an agent that registers over MCP only knows its path. */
  identify?(path: string, machine: string | undefined): Promise<string[] | undefined>
  /**
   * The work that an agent submits as a commit, read from this machine's repository; only the commit if the repository is on another
   * machine.
   */
  handedIn?(task: Task, commit: string): Promise<Pick<Response, 'diff' | 'place'>>
  keys?: Pick<HubKeys, 'agentFor'>
}

/** The input field for the agent's name. A key of the role agent is one agent; the clients of an admin's key choose their names. */
const ownId = ({ role }: HubCaller) =>
  optional(
    about(
      role === 'admin'
        ? 'Your name as an agent. Choose one when you register, and send the same name in every later call.'
        : 'Your own name at the hub, which your key decides. May be left out.',
      text,
    ),
  )
const wholeCommit = string({
  matches: /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/,
  wants: 'the whole id of a commit, as git rev-parse HEAD prints it',
})
const ticket = about('The taskId that wait_for_prompt returned.', text)

/** The tools of an agent that works on tasks. */
export function agentTools(hub: Hub, clock: Clock, caller: HubCaller, registry: Registry): HubTool[] {
  const { identify, handedIn, keys } = registry
  const own = (named: string | undefined) => agentOf(caller, named)
  const agentId = ownId(caller)
  const answer = inputOf('POST /api/tasks/:id/respond')
  return [
    hubTool(
      'register_agent',
      'POST /api/agents',
      'write',
      'Register with the hub. Call this once, before wait_for_prompt.',
      parser({
        agentId,
        role: text,
        displayName: optional(string()),
        capabilities: list(text),
        workspaceContext: about('The real path of the project you work in.', text),
        source: oneOf('CLI', 'IDE'),
        machineName: optional(about('The name of the machine you run on.', string())),
      }),
      async ({ agentId, role, displayName, capabilities, workspaceContext, source, machineName }) => {
        const id = (await keys?.agentFor(caller, agentId)) ?? own(agentId)
        await hub.register({
          id,
          role,
          name: displayName,
          capabilities,
          workspace: workspaceContext,
          workspaces: await identify?.(workspaceContext, machineName),
          source,
          machine: machineName,
        })
        return agentView(await hub.agentNow(id), clock)
      },
    ),
    hubTool(
      'wait_for_prompt',
      'POST /api/agents/:id/wait',
      'write',
      'Wait for your next task. Status TASK: acknowledge the task with ack_task, then do it; its attachments are MCP resources of this server. MESSAGE: follow the message, then call wait_for_prompt again. IDLE: there is no task yet, call wait_for_prompt again. EVICT: stop working.',
      parser({ agentId, timeout }),
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
      'POST /api/tasks/:id/ack',
      'write',
      'Acknowledge a task before you begin with it. A task that is not acknowledged within 30 seconds is given to another agent.',
      parser({ taskId: ticket, agentId }),
      async ({ taskId, agentId }) => taskView(await hub.work.ack(taskId, own(agentId))),
    ),
    hubTool(
      'update_progress',
      'POST /api/tasks/:id/progress',
      'write',
      'Report your progress, at least every 20 minutes: a task without news for 30 minutes is given to another agent.',
      parser({
        taskId: ticket,
        message: text,
        percentage: inputOf('POST /api/tasks/:id/progress').percentage,
        agentId,
      }),
      async ({ taskId, message, percentage, agentId }) =>
        taskView(await hub.work.progress(taskId, own(agentId), message, percentage)),
    ),
    hubTool(
      'block_task',
      'POST /api/tasks/:id/block',
      'write',
      'Ask a question that you need answered before you can go on. Then call wait_for_prompt: the task comes back with the answer.',
      parser({ taskId: ticket, reason: text, question: text, agentId }),
      async ({ taskId, reason, question, agentId }) =>
        taskView(await hub.work.block(taskId, own(agentId), reason, question)),
    ),
    hubTool(
      'send_response',
      'POST /api/tasks/:id/respond',
      'write',
      'End your task with a status: COMPLETED; IN_REVIEW when somebody should look at your diff first; FAILED with the reason as the message; BLOCKED with your question as the message.',
      parser({
        taskId: ticket,
        status: answer.status,
        message: answer.message,
        artifacts: answer.artifacts,
        diff: optional(about('The changes in the format of git diff.', string())),
        commit: optional(
          about(
            'The commit that is to be reviewed, as git rev-parse HEAD prints it. Name it if your work is on the branch termaite/task-ID of the project, where ID is the last 8 characters of the id of the task (taskId up to its dot). It must be the last commit there: nothing that comes later is merged.',
            wholeCommit,
          ),
        ),
        evidence: optional(
          about(
            'The checks that you ran on your work, such as its tests. They are shown as what you say, not as what termaite ran.',
            list(
              object({
                command: text,
                exit: optional(about('The exit code.', integer(-1_000_000))),
                output: optional(string()),
              }),
              0,
              mostChecks,
            ),
          ),
        ),
        agentId,
      }),
      async ({ taskId, agentId, commit, ...response }) => {
        const work =
          commit === undefined
            ? {}
            : ((await handedIn?.(await hub.task(taskIdOf(taskId)), commit)) ?? { place: { commit } })
        return taskView(await hub.work.respond(taskId, own(agentId), { ...response, ...work }))
      },
    ),
  ]
}
