import type { Event } from '../core/talk/entry.ts'
import type { Outcome } from '../core/talk/outcome.ts'
import type { Agent, Roster, Traits, Turn } from '../core/work/agent.ts'
import type { Rotation, Round } from './round.ts'
import { wordsOf } from '../base/words.ts'
import { failed } from '../core/talk/outcome.ts'
import { askWait } from './cards/quota.ts'
import { away, noHealth } from './health.ts'
import { order } from './order.ts'
import { cancelled, note, orNote } from './round.ts'
import { seat, traitsOf, vendorOf } from './seat.ts'
import { maySee, vendorsSeen } from './sharing.ts'
import { tryAgent } from './try.ts'
import { firstBack, newTally, stillAway, unanswered } from './unanswered.ts'

export type { Rotation } from './round.ts'

/** `by`: whose answer it is, if there is one. */
type Answered = { outcome: Outcome; by?: string }

/** The agent whose turn is taken by whoever of the roster can answer it. */
export function rotate(roster: Roster, o: Rotation): Agent {
  let traits: Traits | undefined
  let last: { turn: string; by: string } | undefined
  return {
    name: 'rotation',
    get traits() {
      return (traits ??= traitsOf(roster))
    },
    async *turn(turn) {
      let outcome: Outcome
      try {
        // Whoever answered one piece of a turn goes on with the next: it knows what it did.
        const went = last?.turn === turn.id ? last.by : undefined
        const answered = yield* answer(roster, o, turn, went)
        if (answered.by !== undefined) last = { turn: turn.id, by: answered.by }
        outcome = answered.outcome
      } catch (error) {
        outcome = failed('crash', `the rotation broke: ${wordsOf(error)}`)
      }
      yield { type: 'end', outcome }
    },
    async close() {},
  }
}

async function* answer(roster: Roster, o: Rotation, turn: Turn, went?: string): AsyncGenerator<Event, Answered> {
  const names = roster.names()
  const nobody = noneIn(names, o.first)
  if (nobody) return { outcome: nobody }

  const attended = turn.attended === true && !o.consulted
  const round: Round = { turn, health: noHealth, unkept: false, tally: newTally(), compacted: false, attended }
  round.health = yield* orNote(o.health.read(), noHealth, round)
  if (o.sharing === 'ask') round.seen = await vendorsSeen(roster, o.told ?? turn.history, turn)
  const line = order(names, { ...o, first: o.first ?? went, position: round.health.position })
  for (const [at, name] of line.entries()) {
    if (turn.signal.aborted) return { outcome: cancelled }
    if (yield* passedOver(name, o, round)) continue
    if (round.seen && (yield* unshared(seat(roster, name, turn), round.seen, round))) continue
    const next = () => line.slice(at + 1).find((other) => isFree(other, o, round))
    const outcome = yield* tryAgent(roster, name, o, round, next)
    if (outcome) return outcome.ok ? { outcome, by: name } : { outcome }
  }
  return { outcome: turn.signal.aborted ? cancelled : await nobodyAnswered(names, o, round) }
}

function noneIn(names: readonly string[], first: string | undefined): Outcome | undefined {
  if (names.length === 0)
    return failed('missing', 'no agent is configured; run `termaite setup`, or `termaite demo` to see how it works')
  if (first === undefined || names.includes(first)) return undefined
  return failed('missing', `there is no agent ${first}; the roster holds ${names.join(', ')}`)
}

/** When all that is missing is time, the person may wait for whoever is the first one back. */
async function nobodyAnswered(names: readonly string[], o: Rotation, round: Round): Promise<Outcome> {
  const now = round.turn.clock.now()
  const back = names.flatMap((name) => {
    const absent = o.out.has(name) ? undefined : away(round.health, name, now)
    return absent ? [{ name, away: absent }] : []
  })
  const outcome = unanswered(round.tally, back, now)
  const first = firstBack(back)
  if (!round.attended || !first || outcome.ok || outcome.failure.retryAt === undefined) return outcome
  const decided = await askWait(round.turn, first)
  return round.turn.signal.aborted ? cancelled : (decided ?? outcome)
}

function isFree(name: string, o: Rotation, { health, turn }: Round): boolean {
  return !o.out.has(name) && !away(health, name, turn.clock.now(), name === o.first)
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
