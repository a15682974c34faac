import type { Entry, Event } from '../../core/talk/entry.ts'
import type { Failure, FailureKind, Outcome } from '../../core/talk/outcome.ts'
import type { RecordedAnswers } from '../../core/talk/question.ts'
import type { Doc } from '../../core/talk/store.ts'
import type { Agent, Leash, Roster, Traits, Turn, Strategy } from '../../core/work/agent.ts'
import type { Cooldown, Health, Limit } from './health.ts'
import type { MeasuredOrder } from './measured-order.ts'
import { messageOf } from '../../base/error-message.ts'
import { failed } from '../../core/talk/outcome.ts'
import { viewTokens } from '../../core/talk/tokens.ts'
import { take } from '../../core/work/verbs.ts'
import { AttemptRecord, PersonWatch } from './attempt.ts'
import { agentOrder } from './agent-order.ts'
import { HealthRecord } from './health-record.ts'
import { away, isGuess, withLimit } from './health.ts'
import { awayWords, firstBack, newTally, noAnswer } from './no-answer.ts'
import { openSeat, sharedTraits, vendorOf, vendorsTold } from './roster-seats.ts'
import { askAbsence, askAllow, askHandOver, askLogin, askToShare, askWait, denialsOf } from './rotation-cards.ts'

export type Rotation = {
  strategy: Strategy
  health: Doc<Health>
  cooldown: Cooldown
  /**
   * The agent that the person named for this turn. Its cool-down is ignored and the position stays, but if it fails, the next agent takes
   * over as usual.
   */
  first?: string
  /** Whether no agent except `first` may answer the turn. */
  only?: boolean
  random(): number
  /** Returns the order of the strategy `measured`. Consultations lack this function, and use the configured order. */
  measured?(turn: Turn): Promise<MeasuredOrder | undefined>
  /** Hides secrets in the report of a failed attempt. */
  mask(text: string): string
  /** Agents that this process no longer asks, with the reason: not installed, or not logged in. */
  out: Map<string, Failure>
  sharing: 'all' | 'ask'
  /** The conversation that `sharing` is about, if the turn passes it in a form other than its history. */
  told?: readonly Entry[]
  /** A consultation never changes the position, and its failures cause no questions to the person. */
  consulted?: boolean
  /** The files that changed since the last call, or since the turn began. */
  changes?(): Promise<string[]>
  /** Shortens the conversation, and says which agents are asked for that; gives the new history, or undefined when it could not. */
  compact?(turn: Turn, say: (words: string) => void): Promise<readonly Entry[] | undefined>
  /** Records the answers to the rotation's own questions. */
  recorded?(turn: Turn): RecordedAnswers
}

/** An agent that passes each turn to the first agent of the roster that can answer. */
export function rotate(roster: Roster, o: Rotation): Agent {
  let traits: Traits | undefined
  let last: { turn: string; by: string } | undefined
  return {
    name: 'rotation',
    get traits() {
      return (traits ??= sharedTraits(roster))
    },
    async *turn(turn) {
      const answers = o.recorded?.(turn)
      const round = new Round(roster, o, answers ? { ...turn, ask: answers.ask } : turn, answers?.notes)
      let outcome: Outcome
      try {
        // The agent that answered one piece of a turn gets the next piece too, because it knows its own work.
        let step = yield* round.begin(last?.turn === turn.id ? last.by : undefined)
        while ('agent' in step) {
          const { agent, record } = step
          let taken: Outcome
          try {
            taken = yield* take(agent, step.turn, step.see)
            record.end()
          } finally {
            await agent.close().catch(() => {})
          }
          step = yield* round.afterAttempt(step, taken)
        }
        outcome = step
      } catch (error) {
        outcome = failed('crash', `choosing an agent failed: ${messageOf(error)}`)
      }
      if (round.answeredBy !== undefined) last = { turn: turn.id, by: round.answeredBy }
      await answers?.settle()
      yield* round.unrecorded()
      yield { type: 'end', outcome }
    },
    async close() {},
  }
}

const cancelled = failed('aborted', 'cancelled')

/** Failures after which no other agent is tried. */
const endsTheTurn: ReadonlySet<FailureKind> = new Set(['denied', 'unfinished', 'aborted'])

/** The most summaries in one turn for agents that report that the conversation is too long: each summary halves the conversation. */
const mostShortenings = 4

/** One agent's attempt at a turn: the turn as the agent gets it, and the record of the attempt. */
type RoundAttempt = {
  name: string
  agent: Agent
  turn: Turn
  /** The looser leash that the person allowed after an earlier attempt of this agent. */
  allowed: Leash | undefined
  record: AttemptRecord
  person: PersonWatch
  limits: readonly Limit[]
  /** The agents that would be tried after this one. */
  others: readonly string[]
  see: (event: Event) => void
}

/**
 * The state of one turn as agents of the roster try it in order. Its generators yield only the rotation's own events; an agent's events
 * pass through `rotate`.
 */
class Round {
  answeredBy: string | undefined
  /** The agents that may answer the turn, and those of them that were not tried yet, in order. */
  #names: readonly string[] = []
  #line: string[] = []
  /** Notes about answers that could not be recorded. */
  #unrecorded: string[]
  #roster: Roster
  #o: Rotation
  /** The turn as the next agent gets it: with the failed attempts and the texts that the person typed to them. */
  #turn: Turn
  /** Whether a person can decide about the next step after a failure. */
  #attended: boolean
  #health: HealthRecord
  #tally = newTally()
  /** How often the conversation was shortened in this turn. */
  #shortenings = 0
  /** Notes for the person about summaries made during this turn. */
  #said: string[] = []
  /** Vendors that already know the conversation; undefined if all vendors may see it. */
  #vendors: Set<string> | undefined

  constructor(roster: Roster, o: Rotation, turn: Turn, unrecorded: string[] = []) {
    this.#roster = roster
    this.#o = o
    this.#turn = turn
    this.#unrecorded = unrecorded
    this.#health = new HealthRecord(o, turn.clock)
    this.#attended = turn.attended === true && !o.consulted
  }

  /**
   * Puts the agents into order, and returns the first attempt, or the outcome if no agent can try. `previous` answered an earlier piece
   * of the same turn.
   */
  async *begin(previous: string | undefined): AsyncGenerator<Event, RoundAttempt | Outcome> {
    const { first, only, sharing, strategy, random, told } = this.#o
    const known = this.#roster.names()
    const unknown = unknownAgent(known, first)
    if (unknown) return unknown
    const names = (this.#names = only && first !== undefined ? [first] : known)

    yield* this.#health.read()
    if (sharing === 'ask') this.#vendors = await vendorsTold(this.#roster, told ?? this.#turn.history, this.#turn)
    const { position } = this.#health.now
    const measured = strategy === 'measured' ? await this.#o.measured?.(this.#turn).catch(() => undefined) : undefined
    this.#line = [...agentOrder(names, { strategy, random, position, drawn: measured?.line, first: first ?? previous })]
    const chosen = first === undefined && previous === undefined ? this.#nextFree(this.#line) : undefined
    const why = chosen === undefined ? undefined : measured?.why(chosen)
    if (why !== undefined) yield note(why)
    return yield* this.#next()
  }

  /** The attempt of the next agent that can try, or the outcome if no agent is left. */
  async *#next(): AsyncGenerator<Event, RoundAttempt | Outcome> {
    for (let name = this.#line.shift(); name !== undefined; name = this.#line.shift()) {
      if (this.#turn.signal.aborted) return cancelled
      const absence = this.#whySkipped(name, this.#names)
      if (absence !== undefined) {
        if (name !== this.#o.first) {
          yield note(`Skipped ${name}: ${absence}`)
          continue
        }
        const decided = await this.#askAboutAbsence(name, this.#line)
        if (decided === undefined) yield note(`Skipped ${name}: ${absence}`)
        if (decided === undefined) continue
        if (decided !== 'try') return decided
        this.#tally.away = this.#tally.away.filter((absent) => absent.name !== name)
      }
      const attempt = yield* this.#attempt(name)
      if (attempt) return attempt
    }
    return this.#turn.signal.aborted ? cancelled : this.#withoutAnswer(this.#names)
  }

  /** The notes about answers that could not be recorded since the last call. */
  *unrecorded(): Generator<Event> {
    for (const text of this.#unrecorded.splice(0)) yield note(text)
  }

  #whySkipped(name: string, names: readonly string[]): string | undefined {
    const now = this.#turn.clock.now()
    const failure = this.#o.out.get(name)
    if (failure) {
      this.#tally.out.push({ name, failure })
      return failure.message
    }
    const absence = away(this.#health.now, name, now, name === this.#o.first)
    if (!absence || this.#isLast(name, names)) return undefined
    this.#tally.away.push({ name, away: absence })
    return awayWords(absence, now)
  }

  /**
   * Whether an agent is the only one that can answer at all, and is away only because of its own failures: then skipping it would help
   * nobody. The others are excluded, or out of quota.
   */
  #isLast(name: string, names: readonly string[]): boolean {
    const now = this.#turn.clock.now()
    const able = (one: string) => !this.#o.out.has(one) && away(this.#health.now, one, now)?.as !== 'parked'
    return isGuess(this.#health.now, name, now) && names.every((one) => one === name || !able(one))
  }

  /** Asks what to do if a chosen agent is out of quota or busy: 'try' it anyway, end the turn, or (undefined) skip it. */
  async #askAboutAbsence(name: string, others: readonly string[]): Promise<Outcome | 'try' | undefined> {
    const absence = this.#tally.away.find((absent) => absent.name === name)
    if (!absence || this.#o.only || this.#o.consulted) return undefined
    const decided = await askAbsence(this.#turn, absence, this.#nextFree(others))
    return this.#turn.signal.aborted ? cancelled : decided
  }

  /** Opens an agent for an attempt; undefined if the conversation may not be shared with it. */
  async *#attempt(name: string, allowed?: Leash): AsyncGenerator<Event, RoundAttempt | undefined> {
    const turn = this.#turn
    const agent = openSeat(this.#roster, name, turn, allowed)
    const record = new AttemptRecord(name, turn.clock, this.#o)
    const person = new PersonWatch(turn)
    let isShared = false
    try {
      isShared = await this.#mayShareWith(agent)
      yield* this.unrecorded()
      if (!isShared && !turn.signal.aborted)
        yield note(`Skipped ${name}: sharing the conversation with ${vendorOf(agent)} was not allowed`)
    } finally {
      if (!isShared) await agent.close().catch(() => {})
    }
    if (!isShared) return undefined
    const { ask, steer } = person
    const others = [...this.#line]
    const othersFree = () => this.#nextFree(others) !== undefined || (turn.othersFree?.() ?? false)
    turn.waits?.(`starting ${name}`)
    const attempt: RoundAttempt = {
      name,
      agent,
      turn: { ...turn, ask, steer, othersFree, leash: allowed ?? turn.leash },
      allowed,
      record,
      person,
      limits: [],
      others,
      see: (event) => {
        record.see(event)
        if (event.type === 'limit') attempt.limits = withLimit(attempt.limits, event)
      },
    }
    return attempt
  }

  /**
   * Returns the next step after an attempt: the outcome that ends the turn, a new attempt of the same agent, or an attempt of the next
   * one.
   */
  async *afterAttempt(attempt: RoundAttempt, outcome: Outcome): AsyncGenerator<Event, RoundAttempt | Outcome> {
    const { name, agent, record, person, limits, others } = attempt
    const turn = this.#turn
    const denials = denialsOf(outcome)
    // If the person refused a permission during this attempt, the card does not ask for it again.
    if (denials.length > 0 && this.#attended && !person.permissionAsked) {
      const looser = await askAllow(turn, agent, denials)
      yield* this.unrecorded()
      if (looser) {
        const what = outcome.ok ? `${name} was not allowed: ${denials.join('; ')}` : outcome.failure.message
        // The next attempt's prompt mentions its looser leash; otherwise the agent would not try the denied actions again.
        yield await this.#handOver(
          record,
          { kind: 'denied', message: `${what}. It may do more now: ${looser.means}` },
          person,
        )
        return yield* this.#again(name, looser.leash)
      }
      if (!outcome.ok && turn.signal.aborted) return cancelled
    }

    if (outcome.ok) {
      yield* this.#health.succeeded(name, limits)
      this.answeredBy = name
      return outcome
    }
    if (endsTheTurn.has(outcome.failure.kind))
      return { ...outcome, failure: { ...outcome.failure, message: this.#o.mask(outcome.failure.message) } }
    // If the attempt was being cancelled, its failure says nothing about the agent.
    if (turn.signal.aborted) return cancelled
    const failure = this.#health.asLearned(name, outcome.failure)
    yield* this.#health.failed(name, failure)
    yield await this.#handOver(record, failure, person)
    const after = await this.#afterFailure(agent, failure, others)
    for (const text of this.#said.splice(0)) yield note(text)
    if (after === 'again') return yield* this.#again(name, attempt.allowed)
    return after ?? (yield* this.#next())
  }

  /** Starts another attempt of the same agent. */
  async *#again(name: string, allowed: Leash | undefined): AsyncGenerator<Event, RoundAttempt | Outcome> {
    return (yield* this.#attempt(name, allowed)) ?? (yield* this.#next())
  }

  /** Asks the person before a conversation first reaches another vendor. */
  async #mayShareWith(agent: Agent): Promise<boolean> {
    if (!this.#vendors) return true
    const vendor = vendorOf(agent)
    const known = this.#vendors.size === 0 || this.#vendors.has(vendor)
    if (known || (await askToShare(this.#turn, agent, vendor))) {
      this.#vendors.add(vendor)
      return true
    }
    this.#tally.unshared.push(agent.name)
    return false
  }

  /** Passes the failed attempt, with the texts typed meanwhile, to the next agent; returns it as an event to store. */
  async #handOver(record: AttemptRecord, failure: Failure, { typed }: PersonWatch): Promise<Event> {
    const attempt = await record.failed(failure)
    this.#tally.tried.push({ name: attempt.by, failure: attempt.failure })
    const { attempts, steered } = this.#turn
    this.#turn = { ...this.#turn, attempts: [...attempts, attempt], steered: [...steered, ...typed] }
    return attempt
  }

  /** Decides the next step after a failure: the turn ends, the same agent tries again, or (undefined) the next agent takes over. */
  async #afterFailure(
    agent: Agent,
    failure: Failure,
    others: readonly string[],
  ): Promise<Outcome | 'again' | undefined> {
    const { kind } = failure
    if (this.#attended && kind === 'auth' && (await askLogin(this.#turn, agent, failure, this.#nextFree(others))))
      return 'again'
    if (this.#attended && kind === 'quota') {
      const until = away(this.#health.now, agent.name, this.#turn.clock.now())?.until
      const next = this.#nextFree(others)
      if (until !== undefined && next !== undefined)
        return askHandOver(this.#turn, { name: agent.name, until, stated: failure.retryAt !== undefined }, next)
    }
    if (kind === 'auth' || kind === 'missing') this.#o.out.set(agent.name, failure)
    return kind === 'overflow' && (await this.#shorten(agent)) ? 'again' : undefined
  }

  #nextFree(names: readonly string[]): string | undefined {
    const { out, first } = this.#o
    const now = this.#turn.clock.now()
    return names.find((name) => !out.has(name) && !away(this.#health.now, name, now, name === first))
  }

  /**
   * Shortens the conversation, again and again as long as that helps: nobody knows how small the agent's window really is.
   * The agent's own thread is as long as the history was, so it starts a new one.
   */
  async #shorten({ name }: Agent): Promise<boolean> {
    if (this.#shortenings >= mostShortenings) return false
    this.#shortenings++
    const { history } = this.#turn
    this.#turn.waits?.('summarising the conversation, which is too long for the agent')
    const say = (words: string) => this.#said.push(words)
    const found = await this.#o.compact?.(this.#turn, say).catch(() => undefined)
    const shorter = found && viewTokens(found) < viewTokens(history) ? found : undefined
    if (!shorter) this.#shortenings = mostShortenings
    const rest = (shorter ?? history).filter((entry) => entry.type !== 'thread' || entry.by !== name)
    if (!shorter && rest.length === history.length) return false
    this.#turn = { ...this.#turn, history: rest }
    return true
  }

  /** The outcome of a turn that no agent answered. If an agent will be available later, the person may wait for it. */
  async #withoutAnswer(names: readonly string[]): Promise<Outcome> {
    const { signal, clock } = this.#turn
    const now = clock.now()
    const absent = names.flatMap((name) => {
      const absence = this.#o.out.has(name) ? undefined : away(this.#health.now, name, now)
      return absence ? [{ name, away: absence }] : []
    })
    const outcome = noAnswer(this.#tally, absent, now)
    const first = firstBack(absent)
    if (!this.#attended || !first || outcome.ok || outcome.failure.retryAt === undefined) return outcome
    const decided = await askWait(this.#turn, first)
    return signal.aborted ? cancelled : (decided ?? outcome)
  }
}

function unknownAgent(names: readonly string[], first: string | undefined): Outcome | undefined {
  if (names.length === 0)
    return failed('missing', 'no agent is configured; run `termaite setup`, or `termaite demo` to see how it works')
  if (first === undefined || names.includes(first)) return undefined
  return failed('missing', `there is no agent ${first}; your agents are ${names.join(', ')}`)
}

const note = (text: string): Event => ({ type: 'note', text, by: 'termaite' })
