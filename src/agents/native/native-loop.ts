import type { Event, Fact } from '../../core/talk/entry.ts'
import type { Outcome } from '../../core/talk/outcome.ts'
import type { Question } from '../../core/talk/question.ts'
import type { Agent, Turn } from '../../core/work/agent.ts'
import type { Frame, Model, ModelRequest } from '../../core/work/model.ts'
import type { Policy } from '../../core/work/policy.ts'
import type { Tool } from '../../core/work/tool.ts'
import type { WholeAnswer } from './model-step.ts'
import { relay } from '../../base/relay.ts'
import { messageOf } from '../../base/error-message.ts'
import { isFact } from '../../core/talk/entry.ts'
import { failed } from '../../core/talk/outcome.ts'
import { estimateTokens } from '../../core/talk/tokens.ts'
import { performAll, Repetition } from './tool-calls.ts'
import { modelMessages } from './model-messages.ts'
import { askModel } from './model-step.ts'

export type Native = {
  name: string
  model: Model
  tools: readonly Tool[]
  /** A tool by its name that is not among them: those of servers come and go. */
  find?(name: string): Tool | undefined
  policy: Policy
  /** What every request begins with; one that is frozen for a session says so when it is made. */
  frame: Frame | ((turn: Turn) => AsyncGenerator<Event, Frame>)
  maxSteps?: number
  vendor?: string
  /** What is said besides to a prompt, or why it is not taken. */
  opens?(turn: Turn): Promise<{ hookGuides: string[]; refused?: string }>
  /** Why the turn is not over with this answer, if it is not; `again` when it was told so before. */
  ends?(answer: string, again: boolean, turn: Turn): Promise<string | undefined>
  /** Why the turn is over after what was called, whatever the model would say to it. */
  halts?(turn: Turn): string | undefined
  /** What is said or left out before the next request, after what was done in the turn so far. */
  before?(done: readonly Fact[], turn: Turn): Promise<readonly Fact[]>
  /** Ends what the tools left running. */
  close?(): Promise<void>
}

/** Our own agent: the model is asked, its calls are performed, until it calls nothing more. */
export function nativeAgent(native: Native): Agent {
  const { name, model, vendor } = native
  return {
    name,
    traits: { window: model.window, memory: 'none', talks: true, steers: true, ...(vendor ? { vendor } : {}) },
    async *turn(turn) {
      let outcome: Outcome
      try {
        outcome = yield* loop(native, turn)
      } catch (error) {
        outcome = failed('crash', `${name} broke: ${messageOf(error)}`)
      }
      yield { type: 'end', outcome }
    },
    close: async () => native.close?.(),
  }
}

async function* loop(native: Native, turn: Turn): AsyncGenerator<Event, Outcome> {
  const { name, model, maxSteps = 50 } = native
  const frame = typeof native.frame === 'function' ? yield* native.frame(turn) : native.frame
  const { tools, policy, find } = native
  const hands = { tools, policy, repetition: new Repetition(), ...(find ? { find } : {}) }
  /** What happened in this turn so far: the next request is made of it. */
  const done: Fact[] = []
  const opened = await native.opens?.(turn)
  if (opened?.refused !== undefined) return yield* refusedPrompt(opened.refused)
  yield* keepFacts(besides(opened?.hookGuides ?? []), done)
  let again = false
  for (let step = 1; step <= maxSteps; step++) {
    yield* keepFacts(every((await native.before?.(done, turn)) ?? []), done)
    const request = { frame, messages: modelMessages(name, turn, done) }
    const refusal = turn.budget.refuse(requestTokens(request))
    if (refusal) return { ok: false, failure: refusal }
    const answer = yield* askModel(model, request, turn.signal)
    if (!answer.failure) yield* keepFacts(said(answer, step), done)
    yield* answer.usage
    if (answer.failure) return { ok: false, failure: answer.failure }
    if (answer.calls.length === 0) {
      const more = await native.ends?.(answer.text, again, turn)
      if (more === undefined) return withDenials(yield* ended(native, answer), done)
      again = true
      yield* keepFacts(besides([more]), done)
      continue
    }
    const asks = yield* keepFacts(performAll(answer.calls, step, turn, hands), done)
    if (turn.signal.aborted) return failed('aborted', 'cancelled')
    const halt = native.halts?.(turn)
    if (halt !== undefined) return withDenials(yield* stopped(sentence(halt), step), done)
    if (asks) return yield* asked(asks, answer, step)
    if (hands.repetition.stuck)
      return yield* stopped('I stopped because I repeated the same call without getting further.', step)
    for (const text of await turn.steer()) done.push({ type: 'steer', text })
  }
  return yield* stopped(`I stopped after ${maxSteps} steps without being done.`, maxSteps)
}

/** What the turn was not allowed to do is told with its answer. */
function withDenials(outcome: Outcome, done: readonly Fact[]): Outcome {
  const denials = done.flatMap((fact) => {
    const denied = fact.type === 'result' ? (fact.data as { denied?: string } | undefined)?.denied : undefined
    return denied === undefined ? [] : [denied]
  })
  return outcome.ok && denials.length > 0 ? { ...outcome, denials: [...new Set(denials)] } : outcome
}

async function* refusedPrompt(why: string): AsyncGenerator<Event, Outcome> {
  const text = `This prompt was not sent: ${why}`
  yield { type: 'reply', text }
  return { ok: true, text }
}

/** Marked, so that a summary takes them with the messages they stand among. */
function* besides(texts: readonly string[]): Generator<Event, void> {
  for (const text of texts) yield { type: 'guide', name: 'hook', text, mark: 'hook' }
}

const sentence = (words: string) => (/[.!?]$/.test(words) ? words : `${words}.`)

/** Not a failure: what was done stands, and the person decides. */
async function* stopped(why: string, step: number): AsyncGenerator<Event, Outcome> {
  const text = `${why} Say "go on" and I will.`
  yield { type: 'reply', text, step: step + 1 }
  return { ok: true, text }
}

/** The turn ends with the questions: the next prompt answers them. */
async function* asked(asks: readonly Question[], answer: WholeAnswer, step: number): AsyncGenerator<Event, Outcome> {
  const text = asks.map(questionText).join('\n\n')
  yield { type: 'reply', text, step: step + 1 }
  return { ok: true, text, asks: answer.calls[0]!.id }
}

function questionText({ text, options, multiple }: Question): string {
  const choices = options.map(({ label }, index) => `${index + 1}. ${label}`)
  return [text, ...choices, ...(multiple ? ['(more than one may be chosen)'] : [])].join('\n')
}

function* every(facts: readonly Fact[]): Generator<Event, void> {
  yield* facts
}

/** Every fact goes out to be kept, and into the next request. */
function keepFacts<R>(events: AsyncGenerator<Event, R> | Generator<Event, R>, done: Fact[]): AsyncGenerator<Event, R> {
  return relay(events, (event) => {
    if (isFact(event)) done.push(event)
    return event
  })
}

function* said({ text, opaque }: WholeAnswer, step: number): Generator<Event, void> {
  if (text !== '' || opaque !== undefined)
    yield { type: 'reply', text, step, ...(opaque === undefined ? {} : { opaque }) }
}

async function* ended(native: Native, answer: WholeAnswer): AsyncGenerator<Event, Outcome> {
  if (answer.stop === 'refused') return { ok: true, text: answer.text, refused: true }
  if (answer.text.trim() === '') return failed('crash', `${native.name} gave an empty answer`)
  if (answer.stop === 'length') yield { type: 'note', text: 'the answer was cut at the longest the model may say' }
  return { ok: true, text: answer.text }
}

function requestTokens({ frame, messages }: ModelRequest): number {
  return estimateTokens(frame.system) + estimateTokens(JSON.stringify(messages))
}
