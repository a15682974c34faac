import type { Outcome } from '../../core/talk/outcome.ts'
import type { TaskSource, TicketState } from '../../core/work/task-source.ts'
import type { Told } from './telling.ts'

type Reporting = { duty: TaskSource; status: 'COMPLETED' | 'IN_REVIEW' | undefined; signal: AbortSignal }

/** Reports what became of a task, unless its agent has done that itself. */
export async function report(outcome: Outcome, ticket: string, { duty, status, signal }: Reporting): Promise<Told> {
  if (outcome.ok && outcome.asks !== undefined) {
    const heard = await duty.block(ticket, outcome.text, signal)
    return heard === 'kept'
      ? { type: 'blocked', ticket, question: outcome.text }
      : told(heard, ticket, true, outcome.text)
  }
  const ok = outcome.ok && !outcome.refused
  const message = outcome.ok ? outcome.text : outcome.failure.message
  const heard = await duty.respond(ticket, { status: ok ? (status ?? 'COMPLETED') : 'FAILED', message }, signal)
  return told(heard, ticket, ok, message)
}

function told(heard: TicketState, ticket: string, ok: boolean, message: string): Told {
  if (heard === 'lost') return { type: 'dropped', ticket, why: 'somebody else has it now' }
  return { type: 'done', ticket, ok, by: heard === 'settled' ? 'agent' : 'shift', message }
}
