import type { Event } from '../../core/talk/entry.ts'
import type { Framework } from '../../core/talk/framework.ts'
import type { Outcome } from '../../core/talk/outcome.ts'
import type { Ask } from '../../core/talk/question.ts'
import type { Agent, Turn } from '../../core/work/agent.ts'
import type { SystemSpec } from '../../core/work/system-spec.ts'
import type { FrameworkDefinition } from './framework-agent.ts'
import type { Resources } from './resources.ts'
import type { FrameworkChoice } from './select/framework-choice.ts'
import { drain, relay } from '../../base/relay.ts'
import { messageOf } from '../../base/error-message.ts'
import { failed } from '../../core/talk/outcome.ts'
import { consult, take } from '../../core/work/verbs.ts'
import { announced, consentForMore } from './cost-consent.ts'
import { chooseFramework } from './select/framework-choice.ts'
import { note } from './thinking-turn.ts'

export type ThinkingParts = {
  /** A framework that the person chose, or the one that the request needs. */
  how: 'auto' | Framework
  spec(): Promise<SystemSpec>
  /** Opens the cheapest healthy agent for the question which framework fits; undefined where there is none. */
  openSelector(): Promise<Agent | undefined>
  /** Gives what a framework can use; or why there is none, where no agent can be held to reading. */
  resources(): Promise<Resources | { why: string }>
  load(framework: Exclude<Framework, 'direct'>): Promise<FrameworkDefinition>
  /** Whether the turn continues a task tree that an earlier turn left unfinished. */
  continuesTree?(turn: Turn): Promise<boolean>
  /** Whether the cost was agreed to before: in this project, by the mode, or by choosing a framework where no person can be asked. */
  agreed: boolean
  /** Remembers for this project that the cost need not be asked about again. */
  agree(): Promise<void>
}

/** An agent that first decides how to think about its turn: a request that needs no thought goes straight to the actor. */
export function think(actor: Agent, o: ThinkingParts): Agent {
  return {
    name: actor.name,
    traits: actor.traits,
    async *turn(whole) {
      const turn = { ...whole, ask: askSharingOnce(whole.ask) }
      const selector = new FrameworkSelector(o, turn)
      let outcome: Outcome
      try {
        outcome = yield* thought(actor, o, selector, turn)
        await selector.ended
        yield* selector.takeEvents()
      } catch (error) {
        outcome = failed('crash', `thinking broke: ${messageOf(error)}`)
      } finally {
        await selector.ended
      }
      yield { type: 'end', outcome }
    },
    close: () => actor.close(),
  }
}

async function* thought(
  actor: Agent,
  o: ThinkingParts,
  selector: FrameworkSelector,
  turn: Turn,
): AsyncGenerator<Event, Outcome> {
  const { framework, why } = await selector.choose()
  yield* selector.takeEvents()
  if (turn.signal.aborted) return failed('aborted', 'cancelled')
  if (framework === 'direct') return yield* direct(actor, why, selector, turn)
  const ready = await prepared(framework, o)
  if ('lacks' in ready) {
    if (!ready.expected) yield note(`${framework} would fit (${why}), but ${ready.lacks}; answering directly`)
    return yield* direct(actor, why, selector, turn)
  }
  const proposed = { framework, ...ready, agreed: o.agreed, agree: o.agree }
  const agreed = yield* announced({ ...proposed, why }, turn)
  if (turn.signal.aborted) return failed('aborted', 'cancelled')
  if (!agreed) return yield* direct(actor, why, selector, turn)
  const agent = ready.definition.agent({ ...ready.resources, moreCalls: consentForMore(proposed) })
  // The verdict says what kind of request it was, and counts the selector's call.
  return yield* relay(take(agent, turn), (event) =>
    event.type === 'verdict' ? { ...event, why, calls: event.calls + selector.calls } : event,
  )
}

/** Loads a framework; a request that cannot be thought through can still be done. */
async function prepared(framework: Exclude<Framework, 'direct'>, o: ThinkingParts): Promise<Ready | Lacking> {
  try {
    const resources = await o.resources()
    // A person who did not choose a framework need not hear at every turn that it cannot be had.
    if ('why' in resources) return { lacks: resources.why, expected: o.how === 'auto' }
    return { resources, definition: await o.load(framework) }
  } catch (error) {
    return { lacks: messageOf(error), expected: false }
  }
}

type Ready = { resources: Resources; definition: FrameworkDefinition }
type Lacking = { lacks: string; expected: boolean }

/** One agent takes the whole turn: nothing is added to it. */
async function* direct(
  actor: Agent,
  why: string,
  { calls }: FrameworkSelector,
  turn: Turn,
): AsyncGenerator<Event, Outcome> {
  const began = turn.clock.now()
  let by: string | undefined
  const outcome = yield* take(actor, turn, (event) => {
    if (event.type === 'reply') by = event.by
  })
  const ms = turn.clock.now() - began
  yield { type: 'verdict', framework: 'direct', why, calls, ms, by: by ?? 'termaite' }
  return outcome
}

/** Chooses a turn's framework: by its words, otherwise by asking an agent, which may take longer than it is waited for. */
class FrameworkSelector {
  /** How many agents were asked for the choice. */
  calls = 0
  /** Resolves once no agent is at work on the choice any more. */
  ended: Promise<unknown> = Promise.resolve()
  #o: ThinkingParts
  #turn: Turn
  #events: Event[] = []

  constructor(o: ThinkingParts, turn: Turn) {
    this.#o = o
    this.#turn = turn
  }

  async choose(): Promise<Pick<FrameworkChoice, 'framework' | 'why'>> {
    const { how, continuesTree, spec } = this.#o
    if (how !== 'auto') return { framework: how, why: 'you chose it' }
    if (await continuesTree?.(this.#turn)) return { framework: 'decompose', why: 'an unfinished task tree' }
    const { clock, signal, prompt, history } = this.#turn
    const ask = (question: string, until: AbortSignal) => {
      const answer = this.#ask(question, until)
      this.ended = answer.catch(() => {})
      return answer
    }
    return chooseFramework(prompt, spec, { ask, clock, signal }, history.length > 0)
  }

  /** The events of the consultation since the last call: its cost is kept with the turn. */
  takeEvents(): Event[] {
    return this.#events.splice(0)
  }

  async #ask(question: string, signal: AbortSignal): Promise<string> {
    const selector = await this.#o.openSelector()
    if (!selector) throw new Error('there is no agent to ask')
    this.calls++
    const { files: _, sent: __, attended: ___, ...own } = this.#turn
    const asked: Turn = { ...own, prompt: question, history: [], attempts: [], steered: [], signal }
    const outcome = await drain(consult(selector, 'selector', asked), (event) => this.#events.push(event))
    if (!outcome.ok) throw new Error(outcome.failure.message)
    return outcome.text
  }
}

type Answer = string[] | undefined

/** Asks once a turn whether an agent may be given the conversation, however many roles it has in the turn. */
export function askSharingOnce(ask: Ask): Ask {
  const asked = new Map<string, Promise<Answer>>()
  return async (question, withdrawn, id) => {
    if (question.about !== 'sharing' || question.agent === undefined) return ask(question, withdrawn, id)
    const { agent } = question
    // A question for a role that was given up meanwhile was not answered: the next role asks anew.
    for (let before = asked.get(agent); before; before = asked.get(agent)) {
      const picks = await orWithdrawn(before, withdrawn)
      if (picks || withdrawn.aborted) return picks
      if (asked.get(agent) === before) asked.delete(agent)
    }
    const answer = ask(question, withdrawn, id)
    asked.set(agent, answer)
    return answer
  }
}

function orWithdrawn(answer: Promise<Answer>, withdrawn: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const withdraw = () => resolve(undefined)
    if (withdrawn.aborted) return withdraw()
    withdrawn.addEventListener('abort', withdraw, { once: true })
    answer.finally(() => withdrawn.removeEventListener('abort', withdraw)).then(resolve, reject)
  })
}
