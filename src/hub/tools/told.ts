import type { Task } from '../../core/work/task.ts'
import type { Hub } from '../hub.ts'
import { ticketOf } from '../ticket.ts'

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
