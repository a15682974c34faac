import type { Clock } from '../../base/time/clock.ts'
import type { Event, Inner } from '../talk/entry.ts'
import type { Ask } from '../talk/question.ts'
import type { Outcome } from '../talk/outcome.ts'
import type { Agent, Leash, Turn } from './agent.ts'
import { relay } from '../../base/relay.ts'
import { messageOf } from '../../base/error-message.ts'
import { failed } from '../talk/outcome.ts'
import { estimateTokens, viewTokens } from '../talk/tokens.ts'

/** How long an aborted agent may take to end its turn. */
export const graceMs = 8_000

/**
 * Takes another agent's turn as one's own: its events pass through, signed with its name, and its `end` is returned as the
 * outcome. Nothing starts once the turn is aborted, and an outcome always comes, whatever the agent does. `see` is called with each
 * event before it is yielded.
 */
export async function* take(agent: Agent, turn: Turn, see?: (event: Event) => void): AsyncGenerator<Event, Outcome> {
  if (turn.signal.aborted) return failed('aborted', 'cancelled before it started')
  const held = turn.budget.reserve(estimateTokens(turn.prompt) + viewTokens(turn.history))
  if (held.failure) return { ok: false, failure: held.failure }
  const { budget } = held

  const leave = new AbortController()
  const signal = AbortSignal.any([turn.signal, leave.signal])
  const grace = new Grace(signal, turn.clock)
  let events: AsyncIterator<Event> | undefined
  try {
    // A question names the asking agent; an agent further inside has already done so.
    const ask: Ask = (question, withdrawn, id) => turn.ask({ agent: agent.name, ...question }, withdrawn, id)
    events = agent.turn({ ...turn, signal, ask, budget })[Symbol.asyncIterator]()
    for (;;) {
      const next = await grace.within(events.next())
      if (next === 'overdue') return failed('aborted', `${agent.name} did not stop when it had to`)
      if (next.done) return failed('crash', `${agent.name} stopped without saying how its turn ended`)
      if (next.value.type === 'end') return next.value.outcome
      // A signed usage was already counted by the inner `take`.
      if (next.value.type === 'usage' && next.value.by === undefined) budget.spend(next.value)
      // Our own agent counts its steps itself; the steps of another program are the calls that it shows.
      const isStep = next.value.type === 'call' && next.value.by === undefined && next.value.step === undefined
      const spent = isStep ? budget.step?.() : undefined
      if (spent) return { ok: false, failure: spent }
      const event: Event = { by: agent.name, ...next.value }
      see?.(event)
      yield event
    }
  } catch (error) {
    return failed('crash', `${agent.name} failed unexpectedly: ${messageOf(error)}`)
  } finally {
    leave.abort()
    // The agent's clean-up gets no more time than the grace, because an agent that hangs never returns.
    await grace.within(leaveBehind(events))
    grace.stop()
    held.release()
  }
}

/**
 * Asks another agent for its answer alone: its events are passed on wrapped as `inner`, its `end` last. The agent may only read unless
 * another leash is set, and it is closed afterwards.
 */
export async function* consult(
  agent: Agent,
  asRole: string,
  turn: Turn,
  leash: Leash = 'read',
): AsyncGenerator<Inner, Outcome> {
  const stopped = new AbortController()
  const place = turn.inside?.enter(asRole, {
    agent: agent.name,
    loses: () => 'Its answer is not used then, and the turn goes on without it.',
    stop: () => stopped.abort(),
  })
  const role = place?.role ?? asRole
  const asked: Turn = {
    ...turn,
    leash,
    signal: AbortSignal.any([turn.signal, stopped.signal]),
    ask: (question, withdrawn) => turn.ask({ ...question, from: [role, ...question.from] }, withdrawn),
    steer: async () => [],
    // The form applies only to the answer to the person.
    form: undefined,
    // The row of the consultation shows that it runs.
    waits: undefined,
  }
  const inner = (event: Event): Inner => ({ type: 'inner', role, event })
  try {
    const taken = yield* relay(take(agent, asked), inner)
    const outcome = stopped.signal.aborted && !taken.ok ? failed('aborted', 'the person stopped this agent') : taken
    // The screen shows that the consulted agent is done, and with which outcome.
    yield inner({ type: 'end', outcome, by: agent.name })
    return outcome
  } finally {
    place?.leave()
    await agent.close()
  }
}

/** Closes an agent's stream. An error is ignored: the stream is closed in that case too. */
async function leaveBehind(events: AsyncIterator<Event> | undefined): Promise<void> {
  try {
    await events?.return?.()
  } catch {
    return
  }
}

/** Waits for each step of an agent; after an abort, no longer than the grace. */
class Grace {
  #stopped = new AbortController()
  #over = false
  #giveUp: (() => void) | undefined
  #begin: () => void
  #signal: AbortSignal

  constructor(signal: AbortSignal, clock: Clock) {
    this.#signal = signal
    this.#begin = () => {
      // The turn waits with `within`, not here.
      void clock.sleep(graceMs, this.#stopped.signal).then(() => {
        this.#over = true
        this.#giveUp?.()
      })
    }
    signal.addEventListener('abort', this.#begin, { once: true })
  }

  /** This does not use Promise.race: a promise that outlives the turn's events would keep every one of them in memory. */
  within<T>(move: Promise<T>): Promise<T | 'overdue'> {
    if (this.#over) return Promise.resolve('overdue')
    return new Promise((resolve, reject) => {
      this.#giveUp = () => resolve('overdue')
      move.then(resolve, reject)
    })
  }

  stop() {
    this.#giveUp = undefined
    this.#stopped.abort()
    this.#signal.removeEventListener('abort', this.#begin)
  }
}
