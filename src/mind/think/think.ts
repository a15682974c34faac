import type { Event } from '../../core/talk/entry.ts'
import type { Outcome } from '../../core/talk/outcome.ts'
import type { Agent, Turn } from '../../core/work/agent.ts'
import type { Framework } from '../../core/talk/framework.ts'
import type { Minds } from './minds.ts'
import type { Routing } from './route.ts'
import type { Choice } from './select/chosen.ts'
import type { Way } from './thinker.ts'
import { relay } from '../../base/relay.ts'
import { messageOf } from '../../base/error-message.ts'
import { failed } from '../../core/talk/outcome.ts'
import { take } from '../../core/work/verbs.ts'
import { beyond, consented } from './consent.ts'
import { note } from './course.ts'
import { Route } from './route.ts'
import { sharedOnce } from './shared-once.ts'

export type Thought = Routing & {
  /** A framework that the person asked for, or what the request needs. */
  how: 'auto' | Framework
  /** Whom a framework can turn to; undefined where nobody can be held to reading, with why. */
  minds(): Promise<Minds | { why: string }>
  way(framework: Exclude<Framework, 'direct'>): Promise<Way>
  /** Whether this turn goes on with a tree of tasks that an earlier one left. */
  left?(turn: Turn): Promise<boolean>
  /** Whether the cost was agreed to before: in this project, by the mode, or by asking for this framework where nobody can be asked. */
  agreed: boolean
  /** Remembers for this project that the cost need not be asked about again. */
  agree(): Promise<void>
}

/** An agent that first decides how to think about its turn: what needs no thought goes straight to whoever acts. */
export function think(actor: Agent, o: Thought): Agent {
  return {
    name: actor.name,
    traits: actor.traits,
    async *turn(turn) {
      let outcome: Outcome
      try {
        outcome = yield* thought(actor, o, { ...turn, ask: sharedOnce(turn.ask) })
      } catch (error) {
        outcome = failed('crash', `thinking broke: ${messageOf(error)}`)
      }
      yield { type: 'end', outcome }
    },
    close: () => actor.close(),
  }
}

async function* thought(actor: Agent, o: Thought, turn: Turn): AsyncGenerator<Event, Outcome> {
  const route = new Route(o, turn)
  try {
    const outcome = yield* taken(actor, o, route, turn)
    await route.ended()
    yield* route.heard()
    return outcome
  } finally {
    await route.ended()
  }
}

async function* taken(actor: Agent, o: Thought, route: Route, turn: Turn): AsyncGenerator<Event, Outcome> {
  const { framework, why } = await chosenFor(o, route, turn)
  yield* route.heard()
  if (turn.signal.aborted) return failed('aborted', 'cancelled')
  if (framework === 'direct') return yield* direct(actor, why, route, turn)
  const ready = await readied(framework, o)
  if ('lacks' in ready) {
    if (!ready.usual) yield note(`${framework} would fit (${why}), but ${ready.lacks}: taken directly`)
    return yield* direct(actor, why, route, turn)
  }
  const agreed = yield* consented({ framework, why, ...ready, agreed: o.agreed, agree: o.agree }, turn)
  if (turn.signal.aborted) return failed('aborted', 'cancelled')
  if (!agreed) return yield* direct(actor, why, route, turn)
  const more = beyond({ framework, ...ready, agreed: o.agreed, agree: o.agree })
  return yield* judged(take(ready.way.agent({ ...ready.minds, more }), turn), why, route)
}

async function chosenFor({ how, left }: Thought, route: Route, turn: Turn): Promise<Pick<Choice, 'framework' | 'why'>> {
  if (how !== 'auto') return { framework: how, why: 'asked for' }
  return (await left?.(turn)) ? { framework: 'decompose', why: 'a tree of tasks was left' } : route.choose()
}

/** What cannot be thought through can still be done. */
async function readied(framework: Exclude<Framework, 'direct'>, o: Thought): Promise<Ready | Lacking> {
  try {
    const minds = await o.minds()
    // Whoever did not ask for it need not hear at every turn that it cannot be had.
    if ('why' in minds) return { lacks: minds.why, usual: o.how === 'auto' }
    return { minds, way: await o.way(framework) }
  } catch (error) {
    return { lacks: messageOf(error), usual: false }
  }
}

type Ready = { minds: Minds; way: Way }
type Lacking = { lacks: string; usual: boolean }

/** One agent, one turn: nothing is added to it. */
async function* direct(actor: Agent, why: string, { calls }: Route, turn: Turn): AsyncGenerator<Event, Outcome> {
  const began = turn.clock.now()
  let by: string | undefined
  const outcome = yield* relay(take(actor, turn), (event) => {
    if (event.type === 'reply') by = event.by
    return event
  })
  const ms = turn.clock.now() - began
  yield { type: 'verdict', framework: 'direct', why, calls, ms, by: by ?? 'termaite' }
  return outcome
}

/** A verdict says what kind of request it was about, and counts who told that. */
function judged(events: AsyncGenerator<Event, Outcome>, why: string, { calls }: Route): AsyncGenerator<Event, Outcome> {
  return relay(events, (event) => (event.type === 'verdict' ? { ...event, why, calls: event.calls + calls } : event))
}
