import type { Event } from '../../core/talk/entry.ts'
import type { Outcome } from '../../core/talk/outcome.ts'
import type { Agent, Turn } from '../../core/work/agent.ts'
import type { Framework } from '../../core/work/framework.ts'
import type { SystemSpec } from '../../core/work/system-spec.ts'
import type { Minds } from './minds.ts'
import type { Choice } from './select/chosen.ts'
import type { Way } from './thinker.ts'
import { wordsOf } from '../../base/words.ts'
import { failed } from '../../core/talk/outcome.ts'
import { consult, outcomeOf, take } from '../../core/work/verbs.ts'
import { consented } from './consent.ts'
import { note } from './course.ts'
import { chosen } from './select/chosen.ts'

export type Thinking = {
  /** A framework that the person asked for, or what the request needs. */
  how: 'auto' | Framework
  spec(): Promise<SystemSpec>
  /** Whom an ambiguous request is put to: the cheapest one that is well; nobody where there is none. */
  teller(): Promise<Agent | undefined>
  /** Whom a framework can turn to; undefined where nobody can be held to reading, with why. */
  minds(): Promise<Minds | { why: string }>
  way(framework: Exclude<Framework, 'direct'>): Promise<Way>
  /** Whether the cost was agreed to before: in this project, by the mode, or by asking for this framework where nobody can be asked. */
  agreed: boolean
  /** Remembers for this project that the cost need not be asked about again. */
  agree(): Promise<void>
}

/** An agent that first decides how to think about its turn: what needs no thought goes straight to whoever acts. */
export function think(actor: Agent, o: Thinking): Agent {
  return {
    name: 'thinking',
    traits: actor.traits,
    async *turn(turn) {
      let outcome: Outcome
      try {
        outcome = yield* thought(actor, o, turn)
      } catch (error) {
        outcome = failed('crash', `thinking broke: ${wordsOf(error)}`)
      }
      yield { type: 'end', outcome }
    },
    close: () => actor.close(),
  }
}

async function* thought(actor: Agent, o: Thinking, turn: Turn): AsyncGenerator<Event, Outcome> {
  const choice = o.how === 'auto' ? yield* routed(o, turn) : { framework: o.how, why: 'asked for' }
  if (turn.signal.aborted) return failed('aborted', 'cancelled')
  const { framework, why } = choice
  if (framework === 'direct') return yield* direct(actor, why, turn)
  const minds = await o.minds()
  if ('why' in minds) {
    yield note(`${framework} would fit (${why}), but ${minds.why}: taken directly`)
    return yield* direct(actor, why, turn)
  }
  const way = await o.way(framework)
  const agreed = yield* consented({ framework, why, way, minds, agreed: o.agreed, agree: o.agree }, turn)
  if (turn.signal.aborted) return failed('aborted', 'cancelled')
  if (!agreed) return yield* direct(actor, why, turn)
  return yield* judged(take(way.agent(minds), turn), why)
}

/** By its words, else by asking; what that costs is kept with the turn. */
async function* routed(o: Thinking, turn: Turn): AsyncGenerator<Event, Pick<Choice, 'framework' | 'why'>> {
  const spent: Event[] = []
  const ask = async (prompt: string, signal: AbortSignal) => {
    const teller = await o.teller()
    if (!teller) throw new Error('nobody is there to ask')
    const { files: _, sent: __, attended: ___, ...own } = turn
    const asked: Turn = { ...own, prompt, history: [], attempts: [], steered: [], signal }
    const outcome = await outcomeOf(consult(teller, 'selector', asked), (event) => void spent.push(event))
    if (!outcome.ok) throw new Error(outcome.failure.message)
    return outcome.text
  }
  const { clock, signal } = turn
  const followsUp = turn.history.length > 0
  const choice = await chosen(turn.prompt, await o.spec(), { ask, clock, signal }, followsUp)
  yield* spent
  return choice
}

/** One agent, one turn: nothing is added to it. */
async function* direct(actor: Agent, why: string, turn: Turn): AsyncGenerator<Event, Outcome> {
  const began = turn.clock.now()
  let by: string | undefined
  const events = take(actor, turn)
  try {
    for (;;) {
      const next = await events.next()
      if (next.done) {
        yield {
          type: 'verdict',
          framework: 'direct',
          why,
          calls: 0,
          ms: turn.clock.now() - began,
          by: by ?? 'termaite',
        }
        return next.value
      }
      if (next.value.type === 'reply') by = next.value.by
      yield next.value
    }
  } finally {
    await events.return(failed('aborted', 'left'))
  }
}

/** A verdict says what kind of request it was about. */
async function* judged(events: AsyncGenerator<Event, Outcome>, why: string): AsyncGenerator<Event, Outcome> {
  try {
    for (;;) {
      const next = await events.next()
      if (next.done) return next.value
      yield next.value.type === 'verdict' ? { ...next.value, why } : next.value
    }
  } finally {
    await events.return(failed('aborted', 'left'))
  }
}
