import type { Entry, Event } from '../core/talk/entry.ts'
import type { Failure, FailureKind, Outcome } from '../core/talk/outcome.ts'
import type { Doc } from '../core/talk/store.ts'
import type { Agent, Roster, Traits, Turn } from '../core/work/agent.ts'
import type { Strategy } from '../core/work/strategy.ts'
import type { Cooldown, Health } from './health.ts'
import type { Tally } from './unanswered.ts'
import { wordsOf } from '../base/words.ts'
import { failed } from '../core/talk/outcome.ts'
import { attempt } from './attempt.ts'
import { afterFailure, afterSuccess, away, noHealth } from './health.ts'
import { order } from './order.ts'
import { seat, traitsOf, vendorOf } from './seat.ts'
import { maySee, vendorsSeen } from './sharing.ts'
import { newTally, stillAway, unanswered } from './unanswered.ts'

export type Rotation = {
  strategy: Strategy
  health: Doc<Health>
  cooldown: Cooldown
  /** Asked for by the person, this turn only: passes over a cool-down, does not move the position, still fails over. */
  first?: string
  random(): number
  /** Hides secrets in what is handed over. */
  mask(text: string): string
  /** Who is out for this process, and why: not installed, or not logged in. */
  out: Map<string, Failure>
  sharing: 'all' | 'ask'
  /** The conversation that `sharing` is about, when the turn brings it in another form than its history. */
  told?: readonly Entry[]
  /** A consultation never moves the position. */
  consulted?: boolean
  /** The files that changed since it was asked last, or since the turn began. */
  changes?(): Promise<string[]>
  /** Shortens the conversation; the new history, or undefined when it could not. */
  compact?(turn: Turn): Promise<readonly Entry[] | undefined>
}

/** The agent whose turn is taken by whoever of the roster can answer it. */
export function rotate(roster: Roster, o: Rotation): Agent {
  let traits: Traits | undefined
  return {
    name: 'rotation',
    get traits() {
      return (traits ??= traitsOf(roster))
    },
    async *turn(turn) {
      let outcome: Outcome
      try {
        outcome = yield* answer(roster, o, turn)
      } catch (error) {
        outcome = failed('crash', `the rotation broke: ${wordsOf(error)}`)
      }
      yield { type: 'end', outcome }
    },
    async close() {},
  }
}

/** One turn's way through the roster. */
type Round = { turn: Turn; health: Health; unkept: boolean; tally: Tally; compacted: boolean; seen?: Set<string> }

async function* answer(roster: Roster, o: Rotation, turn: Turn): AsyncGenerator<Event, Outcome> {
  const names = roster.names()
  if (names.length === 0)
    return failed('missing', 'no agent is configured; run `termaite setup`, or `termaite demo` to see how it works')
  if (o.first !== undefined && !names.includes(o.first))
    return failed('missing', `there is no agent ${o.first}; the roster holds ${names.join(', ')}`)

  const round: Round = { turn, health: noHealth, unkept: false, tally: newTally(), compacted: false }
  round.health = yield* orNote(o.health.read(), noHealth, round)
  if (o.sharing === 'ask') round.seen = await vendorsSeen(roster, o.told ?? turn.history, turn)
  for (const name of order(names, { ...o, position: round.health.position })) {
    if (turn.signal.aborted) return cancelled
    if (yield* passedOver(name, o, round)) continue
    if (round.seen && (yield* unshared(seat(roster, name, turn), round.seen, round))) continue
    let outcome: Outcome | 'next' | 'again'
    do outcome = yield* tryOnce(name, seat(roster, name, turn), o, round)
    while (outcome === 'again')
    if (outcome !== 'next') return outcome
  }
  const now = turn.clock.now()
  const back = names.flatMap((name) => {
    const absent = o.out.has(name) ? undefined : away(round.health, name, now)
    return absent ? [{ name, away: absent }] : []
  })
  return turn.signal.aborted ? cancelled : unanswered(round.tally, back, now)
}

/** Only an agent that the person asked for by name is missed aloud: of the others, the attempt that sent them away told. */
async function* passedOver(name: string, o: Rotation, round: Round): AsyncGenerator<Event, boolean> {
  const { tally, turn, health } = round
  const gone = o.out.get(name)
  const now = turn.clock.now()
  const absent = gone ? undefined : away(health, name, now, name === o.first)
  if (gone) tally.out.push({ name, failure: gone })
  if (absent) tally.away.push({ name, away: absent })
  const why = gone?.message ?? (absent && `it is ${stillAway(absent, now)}`)
  if (why && name === o.first) yield note(`${name} was asked for and is passed over: ${why}`)
  return why !== undefined
}

/** Before a conversation first reaches another vendor, the person is asked. */
async function* unshared(agent: Agent, seen: Set<string>, { turn, tally }: Round): AsyncGenerator<Event, boolean> {
  const vendor = vendorOf(agent)
  const free = seen.size === 0 || seen.has(vendor) || (await maySee(agent, turn))
  await agent.close()
  if (free) {
    seen.add(vendor)
    return false
  }
  tally.unshared.push(agent.name)
  if (!turn.signal.aborted)
    yield note(`${agent.name} is passed over: nobody said yes to sharing the conversation with ${vendor}`)
  return true
}

/** The outcome that ends the turn, or who goes on: the next agent, or this one again on a shorter conversation. */
async function* tryOnce(
  name: string,
  agent: Agent,
  o: Rotation,
  round: Round,
): AsyncGenerator<Event, Outcome | 'next' | 'again'> {
  const { outcome, tried } = yield* closed(agent, attempt(agent, round.turn, o))
  if (outcome.ok) {
    const moves = o.first === undefined && !o.consulted
    const change = (health: Health) => afterSuccess(health, name, moves)
    const now = yield* orNote(o.health.read(), round.health, round)
    if (change(now) !== now) yield* orNote(o.health.update(change), now, round)
    return outcome
  }
  if (!tried || endsTheTurn.has(outcome.failure.kind)) return outcome
  // What an agent says while it is being cancelled counts for nothing.
  if (round.turn.signal.aborted) return cancelled
  const { failure } = outcome
  const at = round.turn.clock.now()
  const change = (health: Health) => afterFailure(health, name, failure, at, o.cooldown)
  if (change(round.health) !== round.health)
    round.health = yield* orNote(o.health.update(change), change(round.health), round)
  if (failure.kind === 'auth' || failure.kind === 'missing') o.out.set(name, failure)
  round.tally.tried.push({ name, failure: tried.failure })
  round.turn = { ...round.turn, attempts: [...round.turn.attempts, tried] }
  yield tried
  return failure.kind === 'overflow' && (await shortened(agent, o, round)) ? 'again' : 'next'
}

/** A seat is for one try. */
async function* closed<R>(agent: Agent, events: AsyncGenerator<Event, R>): AsyncGenerator<Event, R> {
  try {
    return yield* events
  } finally {
    await agent.close().catch(() => {})
  }
}

/** Once a turn the conversation is made shorter for whom it was too long; its own thread is as long, so it starts a new one. */
async function shortened(agent: Agent, o: Rotation, round: Round): Promise<boolean> {
  if (round.compacted) return false
  round.compacted = true
  const shorter = await o.compact?.(round.turn).catch(() => undefined)
  const history = (shorter ?? round.turn.history).filter((entry) => entry.type !== 'thread' || entry.by !== agent.name)
  if (!shorter && history.length === round.turn.history.length) return false
  round.turn = { ...round.turn, history }
  return true
}

const endsTheTurn: ReadonlySet<FailureKind> = new Set(['denied', 'budget', 'aborted'])
const cancelled = failed('aborted', 'cancelled')

/** The rotation goes on without its health: an answer is worth more than a place in the line. */
async function* orNote(health: Promise<Health>, instead: Health, round: Round): AsyncGenerator<Event, Health> {
  try {
    return await health
  } catch (error) {
    if (!round.unkept) yield note(`the rotation goes on without its health: ${wordsOf(error)}`)
    round.unkept = true
    return instead
  }
}

const note = (text: string): Event => ({ type: 'note', text, by: 'termaite' })
