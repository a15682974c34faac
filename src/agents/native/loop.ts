import type { Event, Fact } from '../../core/talk/entry.ts'
import type { Outcome } from '../../core/talk/outcome.ts'
import type { Agent, Turn } from '../../core/work/agent.ts'
import type { Frame, Model, ModelRequest } from '../../core/work/model.ts'
import type { Policy } from '../../core/work/policy.ts'
import type { Tool } from '../../core/work/tool.ts'
import type { WholeAnswer } from './step.ts'
import { wordsOf } from '../../base/words.ts'
import { isFact } from '../../core/talk/entry.ts'
import { failed } from '../../core/talk/outcome.ts'
import { estimateTokens } from '../../core/talk/tokens.ts'
import { perform } from '../../core/work/perform.ts'
import { messages } from './messages.ts'
import { ask } from './step.ts'

export type Native = {
  name: string
  model: Model
  tools: readonly Tool[]
  policy: Policy
  frame: Frame
  maxSteps?: number
  vendor?: string
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
        outcome = failed('crash', `${name} broke: ${wordsOf(error)}`)
      }
      yield { type: 'end', outcome }
    },
    async close() {},
  }
}

async function* loop(native: Native, turn: Turn): AsyncGenerator<Event, Outcome> {
  const { maxSteps = 50 } = native
  /** What happened in this turn so far: the next request is made of it. */
  const done: Fact[] = []
  for (let step = 1; step <= maxSteps; step++) {
    const request = { frame: native.frame, messages: messages(native.name, turn, done) }
    const refusal = turn.budget.refuse(requestTokens(request))
    if (refusal) return { ok: false, failure: refusal }
    const answer = yield* ask(native.model, request, turn.signal)
    if (!answer.failure) yield* noted(said(answer, step), done)
    yield* answer.usage
    if (answer.failure) return { ok: false, failure: answer.failure }
    if (answer.calls.length === 0) return yield* ended(native, answer)
    for (const call of answer.calls) {
      const tool = native.tools.find((one) => one.name === call.tool)
      const known = native.tools.map((one) => one.name)
      const { id, tool: name, input, opaque } = call
      yield* noted(perform({ id, tool, name, input, step, opaque }, turn, native.policy, known), done)
      if (turn.signal.aborted) return failed('aborted', 'cancelled')
    }
    for (const text of await turn.steer()) done.push({ type: 'prompt', text })
  }
  const text = `I stopped after ${maxSteps} steps without being done. Say "go on" and I will.`
  yield { type: 'reply', text, step: maxSteps + 1 }
  return { ok: true, text }
}

/** Every fact goes out to be kept, and into the next request. */
async function* noted(events: AsyncIterable<Event> | Iterable<Event>, done: Fact[]): AsyncGenerator<Event> {
  for await (const event of events) {
    if (isFact(event)) done.push(event)
    yield event
  }
}

function said(answer: WholeAnswer, step: number): Event[] {
  const { text, opaque } = answer
  if (text === '' && opaque === undefined) return []
  return [{ type: 'reply', text, step, ...(opaque === undefined ? {} : { opaque }) }]
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
