import type { Event } from '../core/talk/entry.ts'
import type { Framework } from '../core/talk/framework.ts'
import { leftToAgent, personChose } from '../core/talk/framework.ts'
import type { Outcome } from '../core/talk/outcome.ts'
import type { Ask } from '../core/talk/question.ts'
import type { Agent, Turn } from '../core/work/agent.ts'
import type { ThinkingParts } from './thinking-parts.ts'
import { callAfter } from '../base/time/clock.ts'
import { messageOf } from '../base/error-message.ts'
import { relay } from '../base/relay.ts'
import { failed } from '../core/talk/outcome.ts'
import { consult, take } from '../core/work/verbs.ts'
import { AdviceCalls } from './advice-calls.ts'
import { announced, consentForMore } from './cost-consent.ts'
import { firstLine, plural } from './prompt-text.ts'
import { labelPrompt, parseLabel } from '../turn/select/framework-choice.ts'
import { select } from '../turn/select/select.ts'
import { prepared } from './thinking-parts.ts'
import { note } from './thinking-turn.ts'

/** An agent that first decides how to think about its turn: a request that needs no thought goes directly to the actor. */
export function think(actor: Agent, o: ThinkingParts): Agent {
  return {
    name: actor.name,
    traits: actor.traits,
    async *turn(whole) {
      const turn = { ...whole, ask: askSharingOnce(whole.ask) }
      let outcome: Outcome
      try {
        outcome = yield* thought(actor, o, turn)
      } catch (error) {
        outcome = failed('crash', `thinking failed unexpectedly: ${messageOf(error)}`)
      }
      yield { type: 'end', outcome }
    },
    close: () => actor.close(),
  }
}

async function* thought(actor: Agent, o: ThinkingParts, turn: Turn): AsyncGenerator<Event, Outcome> {
  const { framework, why, calls } = yield* chosen(o, turn)
  if (turn.signal.aborted) return failed('aborted', 'cancelled')
  if (framework === 'direct') return yield* direct(actor, { why, calls }, o, turn)
  const ready = await prepared(framework, o)
  if ('lacks' in ready) {
    if (ready.expected) yield* offerFrameworks(o, framework, why)
    else yield note(`${framework} would fit (${why}), but ${ready.lacks}; answering directly`)
    return yield* direct(actor, { why, calls }, o, turn)
  }
  const proposed = { framework, ...ready, agreed: o.agreed, freeCalls: o.freeCalls, agree: o.agree }
  const agreed = yield* announced({ ...proposed, why }, turn)
  if (turn.signal.aborted) return failed('aborted', 'cancelled')
  if (!agreed) return yield* direct(actor, { why, calls }, o, turn)
  const agent = ready.definition.agent({ ...ready.resources, moreCalls: consentForMore(proposed) })
  // The verdict records what kind of request it was, and counts the call for the label.
  return yield* relay(take(agent, turn), (event) =>
    event.type === 'verdict' ? { ...event, why, calls: event.calls + calls } : event,
  )
}

/** The framework of a turn, the reason, and how many agents were asked for it. */
type FrameworkChoice = { framework: Framework; why: string; calls: number }

/**
 * Chooses the framework of a turn: by the prompt's wording if that is clear, otherwise by one short request to our own agent, otherwise
 * none.
 */
async function* chosen(o: ThinkingParts, turn: Turn): AsyncGenerator<Event, FrameworkChoice> {
  if (o.how !== 'auto') return { framework: o.how, why: personChose, calls: 0 }
  if (await o.continuesTree?.(turn)) return { framework: 'decompose', why: 'an unfinished task tree', calls: 0 }
  const sure = select(turn.prompt, turn.history.length > 0)
  if (sure) return { ...sure, calls: 0 }
  if (o.labelPause.holds(turn.clock)) return { framework: 'direct', why: leftToAgent, calls: 0 }
  const labeller = await o.openLabeller().catch(() => undefined)
  return labeller ? yield* askForLabel(labeller, o, turn) : { framework: 'direct', why: leftToAgent, calls: 0 }
}

/** Says once that requests which need thought go directly to one agent, and how a person can change that. */
async function* offerFrameworks(o: ThinkingParts, framework: Framework, why: string): AsyncGenerator<Event, void> {
  if (await o.firstOffer?.())
    yield note(
      `${framework} would fit (${why}), but no agent here is known to only read; answering directly. With "leash": "read" in an agent's settings it can advise; then --think ${framework} or /think chooses`,
    )
}

/** How long a request waits for the label after the snapshot is taken. */
const labelMs = 80

/** Asks our own agent for one word. Every such question has a line in the transcript, whatever its result. */
async function* askForLabel(labeller: Agent, o: ThinkingParts, turn: Turn): AsyncGenerator<Event, FrameworkChoice> {
  const began = turn.clock.elapsed()
  const late = new AbortController()
  const settled = new AbortController()
  const due = () => callAfter(turn.clock, labelMs, settled.signal, () => late.abort())
  if (o.snapshotTaken) void o.snapshotTaken.then(due)
  else due()
  yield { type: 'phase', framework: 'direct', words: `asking ${labeller.name} how to think about this`, by: 'termaite' }
  const prompt = labelPrompt(turn.prompt, await o.machine().catch(() => ''), turn.history)
  const { files: _, sent: __, attended: ___, ...own } = turn
  const signal = AbortSignal.any([turn.signal, late.signal])
  const asked: Turn = { ...own, prompt, history: [], attempts: [], steered: [], signal }
  let outcome: Outcome
  try {
    outcome = yield* consult(labeller, 'label', asked)
  } finally {
    settled.abort()
  }
  const seconds = ((turn.clock.elapsed() - began) / 1000).toFixed(1)
  const framework = outcome.ok ? parseLabel(outcome.text) : undefined
  if (late.signal.aborted && !framework) {
    const minutes = Math.round(o.labelPause.slow(turn.clock) / 60_000)
    if (!turn.signal.aborted)
      yield note(
        `thinking: ${labeller.name} did not name a framework in time; answering directly, and it is not asked again for ${plural(minutes, 'minute')}`,
      )
    return { framework: 'direct', why: leftToAgent, calls: 1 }
  }
  o.labelPause.inTime()
  if (framework) {
    if (framework === 'direct') yield note(`thinking: ${labeller.name} chose direct (${seconds} s)`)
    return { framework, why: `${labeller.name} chose it in ${seconds} s`, calls: 1 }
  }
  if (!turn.signal.aborted)
    yield note(`thinking: ${labeller.name} was asked for a framework and ${labelFault(outcome)}; answering directly`)
  return { framework: 'direct', why: leftToAgent, calls: 1 }
}

function labelFault(outcome: Outcome): string {
  return outcome.ok ? 'named none' : `could not answer (${firstLine(outcome.failure.message)})`
}

/** One agent does the whole turn. In `auto` it can call for thought, and the events of that belong to the turn. */
async function* direct(
  actor: Agent,
  { why, calls }: Omit<FrameworkChoice, 'framework'>,
  o: ThinkingParts,
  turn: Turn,
): AsyncGenerator<Event, Outcome> {
  const began = turn.clock.elapsed()
  let by: string | undefined
  const see = (event: Event) => {
    if (event.type === 'reply') by = event.by
  }
  const advice = o.how === 'auto' && o.offerAdvice ? new AdviceCalls(o, turn) : undefined
  const withdraw = advice && o.offerAdvice?.((request, signal) => advice.ask(request, signal))
  const acting = take(actor, turn, see)
  let outcome: Outcome
  try {
    outcome = yield* advice ? advice.beside(acting) : acting
  } finally {
    withdraw?.()
  }
  const ms = Math.round(turn.clock.elapsed() - began)
  yield { type: 'verdict', framework: 'direct', why, calls: calls + (advice?.calls ?? 0), ms, by: by ?? 'termaite' }
  return outcome
}

type Answer = string[] | undefined

/** Asks only once per turn whether an agent may get the conversation, however many roles it has in the turn. */
export function askSharingOnce(ask: Ask): Ask {
  const asked = new Map<string, Promise<Answer>>()
  return async (question, withdrawn, id) => {
    if (question.about !== 'sharing' || question.agent === undefined) return ask(question, withdrawn, id)
    const { agent } = question
    // If the role that asked was abandoned, its question has no answer: the next role asks again.
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
