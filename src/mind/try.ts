import type { Event } from '../core/talk/entry.ts'
import type { Failure, FailureKind, Outcome } from '../core/talk/outcome.ts'
import type { Agent, Leash, Roster } from '../core/work/agent.ts'
import type { Try } from './attempt.ts'
import type { Health } from './health.ts'
import type { Limit } from './limits.ts'
import type { Rotation, Round } from './round.ts'
import { attempt } from './attempt.ts'
import { askAllow, denialsOf } from './cards/denied.ts'
import { askLogin } from './cards/login.ts'
import { askHandOver } from './cards/quota.ts'
import { afterFailure, afterSuccess, away } from './health.ts'
import { spent, withLimit } from './limits.ts'
import { Meanwhile } from './meanwhile.ts'
import { cancelled, orNote } from './round.ts'
import { seat } from './seat.ts'

/** How a turn goes on after one try: its outcome ends it, the next agent goes on, or the same one again, maybe allowed more. */
type After = Outcome | 'next' | 'again' | { allowed: Leash }

/** Who would go on, if anybody is free. */
type Next = () => string | undefined

/** One agent's tries at a turn: the outcome that ends it, or undefined when the next one goes on. */
export async function* tryAgent(
  roster: Roster,
  name: string,
  o: Rotation,
  round: Round,
  next: Next,
): AsyncGenerator<Event, Outcome | undefined> {
  for (let allowed: Leash | undefined; ;) {
    const after = yield* tryOnce(seat(roster, name, round.turn, allowed), allowed, o, round, next)
    if (after === 'next') return undefined
    if (after === 'again') continue
    if ('ok' in after) return after
    allowed = after.allowed
  }
}

async function* tryOnce(
  agent: Agent,
  allowed: Leash | undefined,
  o: Rotation,
  round: Round,
  next: Next,
): AsyncGenerator<Event, After> {
  const { name } = agent
  const meanwhile = new Meanwhile(round.turn)
  const { ask, steer } = meanwhile
  const turn = { ...round.turn, ask, steer, ...(allowed === undefined ? {} : { leash: allowed }) }
  let limits: readonly Limit[] = []
  const see = (event: Event) => void (limits = event.type === 'limit' ? withLimit(limits, event) : limits)
  const { outcome, tried } = yield* closed(agent, attempt(agent, turn, { ...o, see }))
  const denials = denialsOf(outcome)
  // What the person said no to in this try is not asked about again.
  if (denials.length > 0 && round.attended && !meanwhile.permission) {
    const more = await askAllow(round.turn, agent, denials)
    if (more !== undefined) {
      const what = outcome.ok ? `${name} was not allowed: ${denials.join('; ')}` : outcome.failure.message
      // Whoever tries again is told, or it would not dare.
      const failure: Failure = { kind: 'denied', message: `${what}. It may do more now: ${more.means}` }
      yield* kept(tried, failure, name, meanwhile, round)
      return { allowed: more.leash }
    }
    if (!outcome.ok && round.turn.signal.aborted) return cancelled
  }
  if (outcome.ok) {
    yield* counted(name, o, round, spent(limits, round.turn.clock.now()))
    return outcome
  }
  const { failure } = outcome
  if (endsTheTurn.has(failure.kind)) return outcome
  // What an agent says while it is being cancelled counts for nothing.
  if (round.turn.signal.aborted) return cancelled
  const at = round.turn.clock.now()
  const change = (health: Health) => afterFailure(health, name, failure, at, o.cooldown)
  if (change(round.health) !== round.health)
    round.health = yield* orNote(o.health.update(change), change(round.health), round)
  yield* kept(tried, failure, name, meanwhile, round)
  const after = round.attended ? await wished(agent, failure, round, next) : 'next'
  if (after === 'next' && (failure.kind === 'auth' || failure.kind === 'missing')) o.out.set(name, failure)
  return failure.kind === 'overflow' && (await shortened(agent, o, round)) ? 'again' : after
}

/** What the person wants after a failure that is theirs to decide on; when nobody says it, the next one goes on. */
async function wished(agent: Agent, failure: Failure, round: Round, next: Next): Promise<After> {
  const { turn, health } = round
  const other = next()
  if (failure.kind === 'auth') return (await askLogin(turn, agent, failure, other)) ? 'again' : 'next'
  const absent = failure.kind === 'quota' ? away(health, agent.name, turn.clock.now()) : undefined
  if (!absent || other === undefined) return 'next'
  const gone = { name: agent.name, until: absent.until, stated: failure.retryAt !== undefined }
  return (await askHandOver(turn, gone, other)) ?? 'next'
}

/** The try as a failed one: on the log, in the tally, and, with what was typed meanwhile, in the hands of whoever comes next. */
async function* kept(
  tried: Try['tried'],
  failure: Failure,
  name: string,
  { typed }: Meanwhile,
  round: Round,
): AsyncGenerator<Event, void> {
  const told = await tried(failure)
  round.tally.tried.push({ name, failure: told.failure })
  const { attempts, steered } = round.turn
  round.turn = { ...round.turn, attempts: [...attempts, told], steered: [...steered, ...typed] }
  yield told
}

/** An answer that spent the last of a quota is an answer; whoever gave it is parked before it is asked in vain. */
async function* counted(
  name: string,
  o: Rotation,
  round: Round,
  last: Failure | undefined,
): AsyncGenerator<Event, void> {
  const moves = o.first === undefined && !o.consulted
  const at = round.turn.clock.now()
  const change = (health: Health) => {
    const after = afterSuccess(health, name, moves)
    return last ? afterFailure(after, name, last, at, o.cooldown) : after
  }
  const now = yield* orNote(o.health.read(), round.health, round)
  if (change(now) !== now) yield* orNote(o.health.update(change), now, round)
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
