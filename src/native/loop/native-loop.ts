import type { Event, Fact, Guide } from '../../core/talk/entry.ts'
import type { Failure, Outcome } from '../../core/talk/outcome.ts'
import type { Question } from '../../core/talk/question.ts'
import type { Agent, Turn } from '../../core/work/agent.ts'
import type { Frame, Model, ModelMessage } from '../../core/work/model.ts'
import type { Policy } from '../../core/work/policy.ts'
import type { Tool } from '../../core/work/tool.ts'
import type { Answer, Patience, WholeAnswer } from './model-step.ts'
import type { StepLimits } from '../../core/work/budget.ts'
import { steerFact } from '../../core/talk/pictures.ts'
import { defined } from '../../base/defined.ts'
import { relay } from '../../base/relay.ts'
import { messageOf } from '../../base/error-message.ts'
import { isFact } from '../../core/talk/entry.ts'
import { failed, unfinished } from '../../core/talk/outcome.ts'
import { performAll, repeats, Repetition } from './tool-calls.ts'
import { StepCount } from './step-limits.ts'
import { mostOverflows, TurnWindow } from './turn-window.ts'
import { askModel } from './model-step.ts'

export type Native = {
  name: string
  model: Model
  tools: readonly Tool[]
  /** Finds a tool that is not in `tools`, because the tools of MCP servers come and go. */
  find?(name: string): Tool | undefined
  policy: Policy
  /** The frame with which every request begins. A frame that is frozen for a session emits an event when it is made. */
  frame: Frame | ((turn: Turn) => AsyncGenerator<Event, Frame>)
  /** Stores a changed frame for the later turns of the session. */
  reframe?(frame: Frame): AsyncGenerator<Event, void>
  /** The most steps that any turn may have. */
  maxSteps?: number
  /** The limits on steps from the settings. */
  steps?: StepLimits
  /** The size of the window, if it differs from that of the model. */
  window?(): number
  vendor?: string
  /** How long an answer is retried while no other agent can take the turn. */
  patience?: Patience
  /** Texts to add to a prompt, or the reason to refuse the prompt. */
  opens?(turn: Turn): Promise<{ hookGuides: string[]; refused?: string }>
  /** Returns the reason if the turn must continue after this answer; `again`: it was already made to continue before. */
  ends?(answer: string, again: boolean, turn: Turn): Promise<string | undefined>
  /** Why the turn must end after the calls of a step, whatever the model would answer. */
  halts?(turn: Turn): string | undefined
  /** Guides to add before the next request. */
  before?(turn: Turn): Promise<readonly Guide[]>
  /** Returns a text that is only part of the next request; `messages` are the other messages of that request. */
  aside?(turn: Turn, messages: readonly ModelMessage[]): Promise<string | undefined>
  /** Why no part of the turn may be summarised now, if something forbids it. */
  forbidsSummary?(turn: Turn): Promise<string | undefined>
  /** Ends processes that tools started. */
  close?(): Promise<void>
}

/** Our own agent: asks the model, performs its calls, and repeats this until the model makes no more calls. */
export function nativeAgent(native: Native): Agent {
  const { name, model, vendor } = native
  return {
    name,
    traits: { window: model.window, memory: 'none', talks: true, steers: true, vendor },
    async *turn(turn) {
      let outcome: Outcome
      try {
        outcome = yield* loop(native, turn)
      } catch (error) {
        outcome = failed('crash', `${name} failed unexpectedly: ${messageOf(error)}`)
      }
      yield { type: 'end', outcome }
    },
    close: async () => native.close?.(),
  }
}

async function* loop(native: Native, turn: Turn): AsyncGenerator<Event, Outcome> {
  const { name, model } = native
  const frame = typeof native.frame === 'function' ? yield* native.frame(turn) : native.frame
  const { tools, policy, find } = native
  const kit = { tools, policy, repetition: new Repetition(), find }
  const window = native.window ?? (() => model.window)
  const room = new TurnWindow({
    name,
    model,
    frame,
    turn,
    window,
    patience: native.patience,
    forbids: native.forbidsSummary,
  })
  const steps = new StepCount(turn, native.steps, native.maxSteps)
  /** The facts of this turn so far, from which the next request is made. */
  const done: Fact[] = []
  const opened = await native.opens?.(turn)
  if (opened?.refused !== undefined) return yield* refusedPrompt(opened.refused)
  yield* keepFacts(guideFacts(opened?.hookGuides ?? []), done)
  const noted = new Set<string>()
  let again = false
  /** How often the model was asked again to give its answer in the form that the turn requires. */
  let closings = 0
  for (let step = 1; ; step++) {
    const stop = await steps.stops(step)
    if (turn.signal.aborted) return failed('aborted', 'cancelled')
    if (stop) return { ok: false, failure: stop }
    yield* keepFacts(every((await native.before?.(turn)) ?? []), done)
    const { answer, paid } = yield* askInRoom(native, room, turn, done, closings > 0 ? turn.form?.schema : undefined)
    yield* unseenNotes(native, turn, done, noted)
    if (!answer.failure) yield* keepFacts(replyEvent(answer, step), done)
    yield* answer.usage
    paid()
    if (answer.failure) return { ok: false, failure: answer.failure }
    if (answer.calls.length === 0) {
      const more = await native.ends?.(answer.text, again, turn)
      if (more === undefined) {
        const outcome = outcomeOf(native, answer)
        const unfit = await formReminder(turn, outcome)
        if (unfit === undefined || closings++ >= mostClosings) return withDenials(outcome, done)
        yield* keepFacts(guideFacts([unfit], 'output schema'), done)
        continue
      }
      again = true
      yield* keepFacts(guideFacts([more]), done)
      continue
    }
    const asks = yield* keepFacts(performAll(answer.calls, step, turn, kit), done)
    if (turn.signal.aborted) return failed('aborted', 'cancelled')
    const halt = native.halts?.(turn)
    if (halt !== undefined) return withDenials(yield* stopTurn(sentence(halt), step), done)
    if (asks) return yield* endWithQuestions(asks, answer, step)
    if (kit.repetition.stuck)
      return {
        ok: false,
        failure: unfinished('repetition', `${model.name} made the same call ${repeats.stopped} times in a row`),
      }
    for (const text of await turn.steer()) done.push(steerFact(text))
  }
}

/** Tells the person once about each picture of this turn that the model cannot see. */
function* unseenNotes(
  { name, model }: Native,
  turn: Turn,
  done: readonly Fact[],
  noted: Set<string>,
): Generator<Event> {
  const sent = [...(turn.files ?? []), ...done.flatMap((fact) => (fact.type === 'steer' ? (fact.files ?? []) : []))]
  for (const ref of sent) {
    const why = model.unseen?.(ref)
    if (why === undefined || noted.has(ref.sha)) continue
    noted.add(ref.sha)
    yield { type: 'note', text: `${name} did not see your picture, but knows where it is: ${why}.` }
  }
}

/** An answer, and a function to call once its usage was reported: until then its tokens are reserved in the budget. */
type PaidAnswer = { answer: Answer; paid(): void }

const failedAnswer = (failure: Failure): PaidAnswer => ({ answer: { usage: [], failure }, paid: () => {} })

/** Makes room in the window and asks the model. If work has begun, the turn survives a request that was too long. */
async function* askInRoom(
  native: Native,
  room: TurnWindow,
  turn: Turn,
  done: Fact[],
  schema: Record<string, unknown> | undefined,
): AsyncGenerator<Event, PaidAnswer> {
  const { model, patience } = native
  let enforced = schema
  for (let overflows = 0; ; overflows++) {
    const full = yield* keepFacts(room.makeRoom(done), done)
    if (full) return failedAnswer(full)
    const told = room.request(done)
    const request = defined({ ...told, aside: await native.aside?.(turn, told.messages) })
    const held = turn.budget.reserve(room.tokens(request))
    if (held.failure) return failedAnswer(held.failure)
    turn.waits?.(`waiting for the first words of ${model.name}`)
    const answer = yield* askModel(model, defined({ ...request, schema: enforced }), turn, patience)
    const paid = held.release
    room.counted(request, answer.usage)
    if (answer.failure?.kind === 'crash' && enforced) {
      // Some providers do not accept every schema: then the text of the request must be enough.
      enforced = undefined
      paid()
      continue
    }
    const wider = answer.failure && answer.invalid && room.widened(request, answer.invalid, native.tools)
    if (wider) {
      paid()
      yield { type: 'note', text: wider.note }
      if (native.reframe) yield* native.reframe(wider.frame)
      continue
    }
    if (answer.failure?.kind !== 'overflow' || !done.some(({ type }) => type === 'call')) return { answer, paid }
    if (overflows >= mostOverflows)
      return { answer: { ...answer, failure: unfinished('window', answer.failure.message) }, paid }
    yield* answer.usage
    paid()
    const smaller = room.overflowed(request)
    if (smaller !== undefined) yield { type: 'note', text: smaller }
  }
}

/** Adds to the outcome which actions the turn was not allowed to do. */
function withDenials(outcome: Outcome, done: readonly Fact[]): Outcome {
  const refused = done.flatMap((fact) => {
    const data = fact.type === 'result' ? (fact.data as { denied?: string; rule?: string } | undefined) : undefined
    return data?.denied === undefined ? [] : [data]
  })
  if (!outcome.ok || refused.length === 0) return outcome
  const rules = refused.flatMap(({ rule }) => rule ?? [])
  const denials = [...new Set(refused.map(({ denied }) => denied!))]
  return { ...outcome, denials, ...(rules.length > 0 && { rules: [...new Set(rules)] }) }
}

async function* refusedPrompt(why: string): AsyncGenerator<Event, Outcome> {
  const text = `This prompt was not sent: ${why}`
  yield { type: 'reply', text }
  return { ok: true, text }
}

/** Guides from hooks and similar sources; their mark lets a summary replace them together with the messages around them. */
function* guideFacts(texts: readonly string[], name = 'hook'): Generator<Event, void> {
  for (const text of texts) yield { type: 'guide', name, text, mark: name }
}

/** How often the model is asked again for an answer in the required form; the provider then enforces the form, if it can. */
const mostClosings = 2

/** Returns the message that asks the model again if its answer does not match the JSON Schema of the turn; undefined if it matches. */
async function formReminder({ form }: Turn, outcome: Outcome): Promise<string | undefined> {
  if (!form || !outcome.ok || outcome.refused) return undefined
  const read = await form.check(outcome)
  if ('json' in read) return undefined
  return `Your answer does not match the JSON Schema: ${read.why}\nGive the same answer again as JSON that matches it. Write nothing but the JSON, and call no tool.`
}

const sentence = (words: string) => (/[.!?]$/.test(words) ? words : `${words}.`)

/** Ends the turn without a failure: the work so far stays, and the person decides. */
async function* stopTurn(why: string, step: number): AsyncGenerator<Event, Outcome> {
  const text = `${why} Say "go on" to continue.`
  yield { type: 'reply', text, step: step + 1 }
  return { ok: true, text }
}

/** Ends the turn with the model's questions; the next prompt answers them. */
async function* endWithQuestions(
  asks: readonly Question[],
  answer: WholeAnswer,
  step: number,
): AsyncGenerator<Event, Outcome> {
  const text = asks.map(questionText).join('\n\n')
  yield { type: 'reply', text, step: step + 1 }
  return { ok: true, text, asks: answer.calls[0]!.id }
}

function questionText({ text, options, multiple }: Question): string {
  const choices = options.map(({ label }, index) => `${index + 1}. ${label}`)
  return [text, ...choices, ...(multiple ? ['(choose one or more)'] : [])].join('\n')
}

function* every(facts: readonly Fact[]): Generator<Event, void> {
  yield* facts
}

/** Collects every fact that is emitted, for the next request. */
function keepFacts<R>(events: AsyncGenerator<Event, R> | Generator<Event, R>, done: Fact[]): AsyncGenerator<Event, R> {
  return relay(events, (event) => {
    if (isFact(event)) done.push(event)
    return event
  })
}

function* replyEvent({ text, opaque }: WholeAnswer, step: number): Generator<Event, void> {
  if (text !== '' || opaque !== undefined) yield defined({ type: 'reply', text, step, opaque })
}

function outcomeOf(native: Native, answer: WholeAnswer): Outcome {
  if (answer.stop === 'refused') return { ok: true, text: answer.text, refused: true }
  if (answer.text.trim() === '') return failed('crash', `${native.name} gave an empty answer`)
  if (answer.stop === 'length')
    return {
      ok: false,
      failure: unfinished('output', `the answer reached the longest length that ${native.model.name} allows`),
    }
  return { ok: true, text: answer.text }
}
