import type { Task } from '../core/work/task.ts'
import { HubError } from './trouble.ts'

/** How often it was handed out. */
const handed = ({ history }: Task) => history.filter(({ state }) => state === 'PENDING_ACK').length

/** A task's name for the agent that was just given it: one who lost the task since is known by the old number. */
export function ticketOf(task: Task): string {
  return `${task.id}.${handed(task)}`
}

/** The task's own id, of a ticket or of an id. */
export function taskIdOf(ticket: string): string {
  return ticket.split('.', 1)[0]!
}

/** Refuses the ticket of an agent that had the task before somebody else got it. */
export function checkTicket(ticket: string, task: Task): void {
  const [, number] = ticket.split('.')
  if (number === undefined || Number(number) === handed(task)) return
  throw new HubError(
    'conflict',
    `Task ${task.id} was given out again since; ask for the next one with wait_for_prompt.`,
  )
}
