import type { Event } from '../core/talk/entry.ts'
import type { Agent, Roster, Turn } from '../core/work/agent.ts'
import type { Slot } from './slot.ts'

/** A slot's agent, in the terminal that is its own: where it lives it is taken up, else opened with the first turn. */
export function seatOf(roster: Roster, slot: Slot): Agent {
  const { agent, cwd, leash, allowed, terminal, mode, model, thread } = slot
  return roster.open(agent, {
    cwd,
    leash,
    ...(allowed === undefined ? {} : { allowed }),
    ...(terminal ? { terminal: { id: terminal.id, title: titleOf(slot), ...(mode ? { mode } : {}) } } : {}),
    ...(model === undefined ? {} : { model }),
    ...(thread === undefined ? {} : { resume: thread }),
  })
}

/** As its window is called. */
export function titleOf({ id, agent, state }: Slot): string {
  return `${id} ${agent} ${state}`
}

/** An agent for one turn of a conversation: `first` is done before it is given the turn. */
export function announced(agent: Agent, first: (turn: Turn) => Promise<unknown>): Agent {
  return {
    name: agent.name,
    traits: agent.traits,
    close: () => agent.close(),
    async *turn(turn) {
      await first(turn)
      yield* agent.turn(turn)
    },
  }
}

const works = new Set<Event['type']>(['text', 'thought', 'call', 'reply', 'progress'])

/** What only an agent does that was given its prompt. */
export function showsWork(event: Event): boolean {
  return event.type === 'state' ? event.state === 'busy' : works.has(event.type)
}
