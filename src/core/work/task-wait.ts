import type { HubAgent, QueuedTask, Task } from './task.ts'

/** An agent with its standing at the hub: whether it is present, and the task that it has. */
export type StandingAgent = HubAgent & { about?: boolean; task?: string }

/** Whether an agent works in the task's workspace and has its capabilities. */
export function fits(task: Task, agent: HubAgent): boolean {
  return agent.workspace === task.workspace && lacking(task, agent).length === 0
}

const lacking = ({ capabilities }: Task, agent: HubAgent) =>
  capabilities.filter((wanted) => !agent.capabilities.includes(wanted))

const done = new Set(['COMPLETED', 'APPROVED'])

/** Says why a queued task is not at work yet. */
export function waitReason(
  task: QueuedTask,
  tasks: ReadonlyMap<string, Task>,
  agents: readonly StandingAgent[],
): string {
  const open = task.needs.filter((need) => !done.has(tasks.get(need)?.state ?? ''))
  if (open.length > 0) return `waits until ${listed(open)} ${open.length === 1 ? 'is' : 'are'} done`
  const here = agents.filter(({ workspace, about }) => about === true && workspace === task.workspace)
  if (here.length === 0) return `no agent is connected that works in ${task.workspace}`
  const able = here.filter((agent) => fits(task, agent))
  if (able.length === 0) {
    const missing = task.capabilities.filter((wanted) => here.every((agent) => lacking(task, agent).includes(wanted)))
    return missing.length > 0
      ? `no connected agent can do ${listed(missing)}`
      : `no connected agent can do all of ${listed(task.capabilities)}`
  }
  const meant = able.find(({ id }) => id === task.wish)
  if (meant) return meant.task === undefined ? `waits for ${meant.id}` : `waits for ${meant.id}, which is busy`
  const busy = able.filter((agent) => agent.task !== undefined)
  if (busy.length < able.length) return 'is given to the next agent that asks for work'
  return `${listed(busy.map(({ id }) => id))} ${busy.length === 1 ? 'is' : 'are'} busy`
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
