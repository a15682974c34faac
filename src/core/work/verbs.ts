import type { Clock } from '../../base/clock.ts'
import type { Event, Inner } from '../talk/entry.ts'
import type { Ask } from '../talk/question.ts'
import type { Outcome } from '../talk/outcome.ts'
import type { Agent, Leash, Turn } from './agent.ts'
import { relay } from '../../base/relay.ts'
import { messageOf } from '../../base/error-message.ts'
import { failed } from '../talk/outcome.ts'
import { estimateTokens, viewTokens } from '../talk/tokens.ts'

/** How long an aborted agent may take to say its own end. */
export const graceMs = 8_000

/**
 * Takes another agent's turn as one's own: its events flow through, signed by it; its `end` comes back as the outcome.
 * Nothing starts once aborted, and an outcome always comes, whatever the agent does. `see` is shown each event before it is yielded.
 */
export async function* take(agent: Agent, turn: Turn, see?: (event: Event) => void): AsyncGenerator<Event, Outcome> {
  if (turn.signal.aborted) return failed('aborted', 'cancelled before it started')
  const refusal = turn.budget.refuse(estimateTokens(turn.prompt) + viewTokens(turn.history))
  if (refusal) return { ok: false, failure: refusal }

  const leave = new AbortController()
  const signal = AbortSignal.any([turn.signal, leave.signal])
  const grace = new Grace(signal, turn.clock)
  let events: AsyncIterator<Event> | undefined
  try {
    // Whoever asks is named, unless somebody further in is.
    const ask: Ask = (question, withdrawn, id) => turn.ask({ agent: agent.name, ...question }, withdrawn, id)
    events = agent.turn({ ...turn, signal, ask })[Symbol.asyncIterator]()
    for (;;) {
      const next = await grace.within(events.next())
      if (next === 'overdue') return failed('aborted', `${agent.name} did not stop when it was told to`)
      if (next.done) return failed('crash', `${agent.name} stopped without an end`)
      if (next.value.type === 'end') return next.value.outcome
      // Signed already: whoever took it further in has paid.
      if (next.value.type === 'usage' && next.value.by === undefined) turn.budget.spend(next.value)
      const event: Event = { by: agent.name, ...next.value }
      see?.(event)
      yield event
    }
  } catch (error) {
    return failed('crash', `${agent.name} broke: ${messageOf(error)}`)
  } finally {
    leave.abort()
    // Its own clean-up is waited for, as long as the grace lasts: a hung one never returns.
    await grace.within(leaveBehind(events))
    grace.stop()
  }
}

/**
 * Asks another agent for its answer alone: its events pass outward wrapped as `inner`, its end last; it is held to reading
 * unless told otherwise, and its seat is closed after.
 */
export async function* consult(
  agent: Agent,
  role: string,
  turn: Turn,
  leash: Leash = 'read',
): AsyncGenerator<Inner, Outcome> {
  const asked: Turn = {
    ...turn,
    leash,
    ask: (question, withdrawn) => turn.ask({ ...question, from: [role, ...question.from] }, withdrawn),
    steer: async () => [],
  }
  const inner = (event: Event): Inner => ({ type: 'inner', role, event })
  try {
    const outcome = yield* relay(take(agent, asked), inner)
    // The screen shows that the consulted agent is done, and how.
    yield inner({ type: 'end', outcome, by: agent.name })
    return outcome
  } finally {
    await agent.close()
  }
}

/** Ends an agent's stream; one that breaks even then has ended as well. */
async function leaveBehind(events: AsyncIterator<Event> | undefined): Promise<void> {
  try {
    await events?.return?.()
  } catch {
    return
  }
}

/** Waits for an agent's every move, but after an abort no longer than the grace. */
class Grace {
  #stopped = new AbortController()
  #over = false
  #giveUp: (() => void) | undefined
  #begin: () => void
  #signal: AbortSignal

  constructor(signal: AbortSignal, clock: Clock) {
    this.#signal = signal
    this.#begin = () =>
      void clock.sleep(graceMs, this.#stopped.signal).then(() => {
        this.#over = true
        this.#giveUp?.()
      })
    signal.addEventListener('abort', this.#begin, { once: true })
  }

  /** Not Promise.race: a promise that outlives the turn's events would hold every one of them in memory. */
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
