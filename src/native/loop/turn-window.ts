import type { Entry, Event, Fact, Summary, Trim, Usage } from '../../core/talk/entry.ts'
import type { Failure } from '../../core/talk/outcome.ts'
import type { Turn } from '../../core/work/agent.ts'
import type { Frame, InvalidRequest, Model, ModelMessage, ModelRequest } from '../../core/work/model.ts'
import type { Tool } from '../../core/work/tool.ts'
import type { Patience } from './model-step.ts'
import { defined } from '../../base/defined.ts'
import { compactAt, compactionPrompt, guidesOf } from '../../core/talk/compaction.ts'
import { unfinished } from '../../core/talk/outcome.ts'
import { estimateTokens, viewTokens } from '../../core/talk/tokens.ts'
import { endedTurns, agentsThatSaw, withoutOldSteps } from '../../core/talk/view.ts'
import { frameOf, modelMessages, applyTrims } from './model-messages.ts'
import { askModel } from './model-step.ts'

/** How full the window may be when a turn begins, before old tool output of earlier turns is left out. */
const trimAt = 0.5

/** How full the window should be at most after a summary, so that the next summary is not needed soon. */
const aimFor = 0.5

/** The share of the window that a trim or a summary must free: each changes earlier messages, and so loses the provider's cache. */
const worth = { turns: 0.05, steps: 0.1 }

/** How many of the last steps stay whole, because the next ones build on them. Fewer stay if they alone would fill the window. */
const stepsKept = { summary: [3, 2, 1, 0], trim: [3, 2, 1] } as const

/** Earlier turns are summarised during a turn if they take a larger share of the window than this. */
const longHistory = 0.25

/** A request for a summary repeats the messages up to the steps to summarise. Above this share of the window it would not fit. */
const repeatAt = 0.9

/** The share of the window for the text of earlier messages, in a request that does not repeat them. */
const transcriptShare = 0.6

/** How many steps pass before a failed summary is requested again. */
const stepsBeforeRetry = 5

/** How often a request that the provider finds too long is shortened and sent again; each time it is about half as long. */
export const mostOverflows = 6

/** How far the provider's count of tokens may differ from our estimate. */
const ratios = { least: 0.75, most: 4 }

/** The window into which a turn has to fit. */
type WindowParts = {
  /** The name of the agent that takes the turn. */
  name: string
  model: Model
  frame: Frame
  turn: Turn
  /** The size of the window in tokens; read late, because a local model reports its size late. */
  window(): number
  patience?: Patience
  /** Why nothing may be summarised now, if something forbids it. */
  forbids?(turn: Turn): Promise<string | undefined>
}

/**
 * Keeps the requests of a turn within the window of the model. At three quarters of it the older steps of the turn become a summary, and
 * so do earlier turns if they take much of it. If there is no summary, long inputs and outputs of old steps are left out instead. Between
 * two such changes every request is a prefix of the next one.
 */
export class TurnWindow {
  #parts: WindowParts
  #frameTokens: number
  /** The provider's count of tokens, divided by our estimate for the same request. */
  #ratio = 1
  #begun = false
  /**
   * The last request, and the facts from which it was made: a request is needed several times, and making it costs more as the turn
   * grows.
   */
  #made: { done: readonly Fact[]; facts: number; request: ModelRequest } | undefined
  #estimates = new WeakMap<readonly ModelMessage[], number>()
  /** The size of the smallest request that the provider found too long. */
  #refused: number | undefined
  #wait = 0
  /** When the provider that refused a summary will be available again, if it said so. */
  #retryAt: number | undefined

  #frame: Frame

  constructor(parts: WindowParts) {
    this.#parts = parts
    this.#frame = parts.frame
    this.#frameTokens = frameTokens(parts.frame)
  }

  /**
   * Makes a wider frame after a provider refused a call of a tool that the request does not describe: it contains all `known` tools, and
   * the names that the model invented. It starts a new prefix. Undefined if every call is described, so that a wider frame could not
   * help.
   */
  widened(
    { frame, messages }: ModelRequest,
    { tool }: InvalidRequest,
    known: readonly Tool[],
  ): { frame: Frame; note: string } | undefined {
    const called = messages.flatMap((message) => (message.role === 'assistant' ? message.calls : []))
    const described = new Set(frame.tools.map(({ name }) => name))
    const refused = [...new Set([...called.map((call) => call.tool), ...(tool === undefined ? [] : [tool])])].filter(
      (name) => !described.has(name) && wellFormed.test(name),
    )
    if (refused.length === 0) return undefined
    const more = known.filter(({ name }) => !described.has(name))
    const madeUp = refused.filter((name) => !more.some((one) => one.name === name))
    this.#frame = frameOf(frame.system, [...frame.tools, ...more, ...madeUp.map((name) => ({ name, ...unknownTool }))])
    this.#frameTokens = frameTokens(this.#frame)
    this.#made = undefined
    const note = `${this.#parts.model.name} takes no call of a tool that its request does not describe (${refused.join(', ')}). Every request describes all tools from here on, so the provider's cache begins again.`
    return { frame: this.#frame, note }
  }

  /** The request for the facts of the turn so far. */
  request(done: readonly Fact[]): ModelRequest {
    const { name, turn } = this.#parts
    const frame = this.#frame
    // The list of a turn's facts only grows.
    if (this.#made?.done === done && this.#made.facts === done.length) return this.#made.request
    const request = { frame, messages: modelMessages(name, turn, done) }
    this.#made = { done, facts: done.length, request }
    return request
  }

  /** The approximate number of tokens in a request. */
  tokens({ messages, aside = '' }: Pick<ModelRequest, 'messages' | 'aside'>): number {
    const told = this.#estimates.get(messages) ?? estimateTokens(JSON.stringify(messages))
    this.#estimates.set(messages, told)
    return Math.ceil((this.#frameTokens + told + estimateTokens(aside)) * this.#ratio)
  }

  #size(done: readonly Fact[]): number {
    return this.tokens(this.request(done))
  }

  /** Adjusts our estimate to a provider's count of tokens. */
  counted(request: ModelRequest, usage: readonly Usage[]): void {
    const reported = usage.findLast(({ source }) => source === 'reported')
    if (reported && reported.input > 0) this.#learn(reported.input / (this.tokens(request) / this.#ratio))
  }

  /**
   * Records, after a refusal, that the window is smaller than a request, whatever was configured or estimated. Returns a note for the
   * person, once.
   */
  overflowed(request: ModelRequest): string | undefined {
    const [first, tokens] = [this.#refused === undefined, this.tokens(request)]
    this.#refused = Math.min(tokens, this.#refused ?? Infinity)
    this.#wait = 0
    const { model, window } = this.#parts
    if (!first || tokens >= window()) return undefined
    return `${model.name} refused a request of about ${tokens} tokens, although its window is set to ${window()}: the turn goes on with a smaller one. Set "contextWindowTokens" of the agent to the size that the model really has.`
  }

  /** The known size of the window in tokens. */
  #window(): number {
    return Math.min(this.#parts.window(), this.#refused ?? Infinity)
  }

  #learn(ratio: number): void {
    this.#ratio = Math.min(ratios.most, Math.max(ratios.least, ratio))
  }

  /** Makes room before the next request. Returns why the turn cannot continue, if it cannot. */
  async *makeRoom(done: readonly Fact[]): AsyncGenerator<Event, Failure | undefined> {
    const { turn } = this.#parts
    const window = this.#window()
    const size = () => this.#size(done)
    if (!this.#begun && size() > window * trimAt) yield* this.#trimTurns(done, window)
    this.#begun = true
    this.#wait--
    if (size() <= window * compactAt) return undefined
    if (this.#wait <= 0) {
      const held = turn.budget.reserve(size())
      if (held.failure) return held.failure
      const why = (await this.#parts.forbids?.(turn)) ?? (yield* this.#summarise(done, window))
      held.release()
      if (turn.signal.aborted) return undefined
      if (why !== undefined) {
        this.#wait = stepsBeforeRetry
        yield { type: 'note', text: `The older steps could not be summarised: ${why}` }
      }
    }
    if (size() > window * compactAt) yield* this.#trimSteps(done, window)
    // The first request of a turn is left to the provider: if it is refused, the rotation shortens the conversation.
    if (size() <= window || newestStep(done) === 0) return undefined
    return unfinished(
      'window',
      `the next request has about ${size()} tokens, the window of ${this.#parts.model.name} has ${window}, and nothing more can be left out; send the rest of the work as a new request after /compact`,
      this.#retryAt,
    )
  }

  /** Leaves out the tool output of earlier turns, except that of the last turn. */
  *#trimTurns(done: readonly Fact[], window: number): Generator<Event, void> {
    const through = endedTurns(this.#history(done)).at(-2)?.end.id
    if (through === undefined) return
    const trim: Trim = { type: 'trim', through }
    if (this.#size(done) - this.#size([...done, trim]) <= window * worth.turns) return
    yield trim
    yield { type: 'note', text: 'Half of the context window was full: old tool outputs are left out from here on.' }
  }

  /** Leaves out the long inputs and outputs of this turn's older steps. */
  *#trimSteps(done: readonly Fact[], window: number): Generator<Event, void> {
    const due = this.#due(done, stepsKept.trim, (step) => ({ type: 'trim', step }), window, compactAt)
    if (!due) return
    yield due
    yield { type: 'note', text: 'Long inputs and outputs of old steps are left out from here on, to make room.' }
  }

  /** Replaces earlier turns and older steps with summaries; returns a reason if no summary was made. */
  async *#summarise(done: readonly Fact[], window: number): AsyncGenerator<Event, string | undefined> {
    const { name, turn } = this.#parts
    const history = this.#history(done)
    const through = endedTurns(history).at(-1)?.end.id
    if (through !== undefined && viewTokens(history) * this.#ratio > window * longHistory) {
      const guides = guidesOf(history)
      const fact: Summary = defined({
        type: 'summary',
        text: '',
        through,
        shared: agentsThatSaw(history),
        guides: guides.length > 0 ? guides : undefined,
      })
      const messages = modelMessages(name, { prompt: '', history, attempts: [], steered: [] }, []).slice(0, -1)
      const why = yield* this.#ask(done, fact, { messages, entries: history, what: 'the conversation so far' }, window)
      if (why !== undefined || this.#size(done) <= window * aimFor) return why
    }
    const fact = this.#due(done, stepsKept.summary, (step) => ({ type: 'summary', text: '', step }), window, aimFor)
    if (fact?.step === undefined) return undefined
    const covered = upTo(done, fact.step)
    const asked: Fact = { type: 'prompt', text: turn.prompt }
    const entries = [asked, ...withoutOldSteps(covered)].map(
      (one) => ({ ...one, by: one.type === 'prompt' || one.type === 'steer' ? 'user' : name }) as Entry,
    )
    const { messages } = this.request(covered)
    const what = fact.step === 1 ? 'your first step' : `your first ${fact.step} steps on this request`
    return yield* this.#ask(done, fact, { messages, entries, what }, window)
  }

  /**
   * The change of old steps that is needed now: the one that keeps most of the newest steps whole and still leaves at most a certain
   * share of the window, otherwise the one that leaves the least. Undefined if every change would free too little.
   */
  #due<Change extends Trim | Summary>(
    done: readonly Fact[],
    kept: readonly number[],
    change: (step: number) => Change,
    window: number,
    share: number,
  ): Change | undefined {
    const [newest, used] = [newestStep(done), this.#size(done)]
    const summarised = Math.max(0, ...done.map((fact) => (fact.type === 'summary' ? (fact.step ?? 0) : 0)))
    const dues = kept.flatMap((steps) => {
      if (newest - steps <= summarised) return []
      const due = change(newest - steps)
      const left = this.#size([...done, due])
      return used - left > window * worth.steps ? [{ due, left }] : []
    })
    return (dues.find(({ left }) => left <= window * share) ?? dues.at(-1))?.due
  }

  /** Asks the model for a summary and stores it as `fact`; returns a reason if no summary was made. */
  async *#ask(
    done: readonly Fact[],
    fact: Summary,
    { messages, entries, what }: Covered,
    window: number,
  ): AsyncGenerator<Event, string | undefined> {
    const { model, turn } = this.#parts
    const frame = this.#frame
    const before = this.#size(done)
    const words = Math.max(200, Math.min(2_000, Math.floor(window / 20)))
    const repeated: ModelRequest = {
      frame,
      messages: [...messages, { role: 'user', text: summaryRequest(what, words) }],
    }
    const told = (): ModelRequest => ({
      frame: { system: '', tools: [] },
      messages: [{ role: 'user', text: compactionPrompt({ entries: [...entries] }, this.#window() * transcriptShare) }],
    })
    let request = this.tokens(repeated) > window * repeatAt ? told() : repeated
    for (let overflows = 0; ; overflows++) {
      turn.waits?.(`summarising ${what}, because the context window is nearly full`)
      const asked = askModel(model, request, turn, this.#parts.patience)
      let next = await asked.next()
      // A summary is not an answer: its text is not shown while it streams.
      for (; !next.done; next = await asked.next())
        if (next.value.type !== 'text' && next.value.type !== 'thought') yield next.value
      const answer = next.value
      yield* answer.usage
      if (turn.signal.aborted) return 'cancelled'
      if (answer.failure) {
        this.#retryAt = answer.failure.retryAt
        if (answer.failure.kind !== 'overflow' || overflows >= mostOverflows) return answer.failure.message
        this.overflowed(request)
        request = told()
        continue
      }
      const text = answer.stop === 'refused' ? '' : answer.text.trim()
      if (text === '') return `${model.name} wrote none`
      const summary = { ...fact, text }
      const after = this.#size([...done, summary])
      if (after >= before) return 'the summary is no shorter than what it replaces'
      this.#retryAt = undefined
      yield defined<Summary>({ ...summary, tokens: { before, after } })
      return undefined
    }
  }

  /** The earlier turns, as this turn has shortened them so far. */
  #history(done: readonly Fact[]): readonly Entry[] {
    return applyTrims(this.#parts.turn.history, done, this.#parts.name)
  }
}

const frameTokens = ({ system, tools }: Frame) => estimateTokens(system) + estimateTokens(JSON.stringify(tools))

/** The form of tool names that every provider accepts. */
const wellFormed = /^[\w-]{1,64}$/

/** Describes a tool name that a model invented: a provider then accepts the call, and our answer to it names the real tools. */
const unknownTool = {
  description: 'This tool does not exist. Do not call it.',
  schema: { type: 'object', properties: {} },
}

/** Asks for a summary in place of the next answer, so that the earlier messages come from the provider's cache. */
function summaryRequest(what: string, words: number): string {
  return [
    `The context window is nearly full. Write a summary of ${what} now: it will replace those messages, and you will go on with nothing else of them. The request itself, what the user typed meanwhile and the skills that you loaded stay as they are.`,
    'Keep what was done and where (files, commands, names, numbers), what was found out, what failed and why, what was decided, and what is still to do. Keep every fact that you may still need word for word.',
    `Write plain text of at most ${words} words. Do not call a tool, and do not go on with the work in this answer.`,
  ].join('\n')
}

/**
 * The part of a conversation that a summary replaces: as messages, for a request that repeats them; as entries, for a request that quotes
 * them as text; and its name for the person.
 */
type Covered = { messages: readonly ModelMessage[]; entries: readonly Entry[]; what: string }

const newestStep = (done: readonly Fact[]) =>
  done.reduce((newest, fact) => (fact.type === 'call' ? Math.max(newest, fact.step ?? 0) : newest), 0)

/** The facts up to the end of a step. */
function upTo(done: readonly Fact[], step: number): readonly Fact[] {
  const later = done.findIndex((fact) => (fact.type === 'reply' || fact.type === 'call') && (fact.step ?? 0) > step)
  return later < 0 ? done : done.slice(0, later)
}
