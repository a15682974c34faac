import type { Clock } from '../../../base/time/clock.ts'
import type { Task } from '../../model/tasks/task.ts'
import type { AgentNow } from '../../model/hub-state.ts'
import { defined } from '../../../base/defined.ts'
import { agentState } from '../../model/tasks/agent-status.ts'
import { pauseWords } from '../../model/tasks/machine-rules.ts'
import { ticketOf } from '../rules/task-rules.ts'

/** The address of a task's file as an MCP resource; files are numbered from 1. */
export const attachmentUri = (task: string, at: number, name: string) =>
  `termaite-hub://tasks/${task}/files/${at + 1}/${encodeURIComponent(name)}`

/** A task in the form for its agent. */
export function promptView(task: Task) {
  return defined({
    status: 'TASK',
    taskId: ticketOf(task),
    prompt: task.prompt,
    workspaceId: task.workspace,
    priority: task.priority,
    notes: task.notes.length > 0 ? task.notes.map(({ by, kind, text }) => ({ by, kind, text })) : undefined,
    returns: task.returns > 0 ? task.returns : undefined,
    attachments: task.attachments?.map(({ name, media, bytes }, at) => ({
      name,
      media,
      bytes,
      uri: attachmentUri(task.id, at, name),
    })),
  })
}

/** A task in the form for every other reader. */
export function taskView(task: Task) {
  const { id, state, why, agent, prompt, workspace, priority, needs, question, result, notes, created, moved } = task
  const last = task.tries?.at(-1)
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
    try: last?.number,
    checks: last?.checks?.map(({ command, exit, why: reason, output, ranBy }) =>
      defined({ command, exit, why: reason, output, ranBy }),
    ),
    notes,
    created: new Date(created).toISOString(),
    since: new Date(moved).toISOString(),
  })
}

/** An agent in the form in which the tools show it. */
export function agentView(agent: AgentNow, clock: Clock) {
  const { id, role, name, capabilities, workspace, source, seen, tokens, cost, asks, status, task, rests } = agent
  const { machine, framework, contextLeft, parkedUntil } = status ?? {}
  const state = agentState(agent, clock.now())
  return defined({
    agentId: id,
    role,
    displayName: name,
    capabilities,
    workspaceContext: workspace,
    source,
    machineName: machine,
    status: state.toUpperCase(),
    parkedUntil: state === 'parked' ? new Date(parkedUntil ?? 0).toISOString() : undefined,
    paused: rests && 'pause' in rests ? pauseWords(rests.pause, task === undefined ? 0 : 1) : undefined,
    taskId: task,
    question: asks?.text,
    framework,
    contextLeft,
    lastSeen: new Date(seen).toISOString(),
    tokens,
    cost,
  })
}
