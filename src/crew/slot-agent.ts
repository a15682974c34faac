import type { Event } from '../core/talk/entry.ts'
import type { Ask } from '../core/talk/question.ts'
import type { Agent, Roster, Turn } from '../core/work/agent.ts'
import type { LivingSlot, Slot } from './slot.ts'
import { untilAborted } from '../base/time/clock.ts'
import { removeQuestion, asking } from './slot-moves.ts'
import { roleTable } from './worker.ts'

/**
 * Opens a slot's agent, in the slot's terminal unless it works in the background. A living terminal is reused; otherwise it opens with
 * the first turn.
 */
export function openSlotAgent(roster: Roster, slot: LivingSlot): Agent {
  const { agent, cwd, leash, allowed, terminal, mode, path, model, thread, worker, within } = slot
  return roster.open(agent, {
    cwd,
    root: worker?.apart?.path,
    leash,
    allowed,
    terminal: worker?.where === 'background' ? undefined : { id: terminal.id, title: titleOf(slot), mode, path },
    model,
    resume: thread,
    within,
    limits: worker && { ...roleTable[worker.role].limits, scope: worker.scope },
  })
}

/** The title of a slot's window. */
export function titleOf({ id, agent, state }: Slot): string {
  return `${id} ${agent} ${state}`
}

/** Wraps an agent for one turn; `before` runs before the agent gets the turn. */
export function announceTurns(agent: Agent, before: (turn: Turn) => Promise<unknown>): Agent {
  return {
    name: agent.name,
    traits: agent.traits,
    close: () => agent.close(),
    async *turn(turn) {
      await before(turn)
      yield* agent.turn(turn)
    },
  }
}

const workEvents = new Set<Event['type']>(['text', 'thought', 'call', 'reply', 'progress'])

/** Whether an event shows that the agent has received its prompt. */
export function showsWork(event: Event): boolean {
  return event.type === 'state' ? event.state === 'busy' : workEvents.has(event.type)
}

/** The parts that keep an agent's questions in its slot. */
type SlotQuestions = {
  edit(change: (slot: LivingSlot) => LivingSlot): Promise<Slot | undefined>
  /** Called after each change of the questions. */
  shown(slot: Slot): Promise<void>
  /** Once this aborts, nothing more is stored. */
  left: AbortSignal
}

/**
 * Stores an agent's questions in its slot and never answers them itself: an answer is written to the slot's log. `start` is the turn for
 * questions that come before the first turn.
 */
export function slotAsk({ edit, shown, left }: SlotQuestions, start?: string): Ask {
  return async (question, withdrawn, ask = '') => {
    if (withdrawn.aborted) return undefined
    const asked = await edit((slot) => asking(slot, { ask, turn: start ?? slot.flight?.turn ?? '', question }))
    if (asked) await shown(asked)
    await untilAborted(withdrawn)
    if (left.aborted) return undefined
    const now = await edit((slot) => (slot.state === 'asking' ? removeQuestion(slot, ask) : slot))
    if (now) await shown(now)
    return undefined
  }
}
