import type { Event } from '../core/talk/entry.ts'
import type { Framework } from '../core/talk/framework.ts'
import type { Outcome } from '../core/talk/outcome.ts'
import type { Agent, Turn } from '../core/work/agent.ts'
import type { Parser } from '../core/data/shape.ts'
import type { ParsedAnswer } from '../core/data/json-answer.ts'
import type { Resources, RoleAssignment } from './resources.ts'
import { callAfter } from '../base/time/clock.ts'
import { defined } from '../base/defined.ts'
import { relay } from '../base/relay.ts'
import { failed } from '../core/talk/outcome.ts'
import { estimateTokens, viewTokens } from '../core/talk/tokens.ts'
import { lastTurns } from '../core/talk/view.ts'
import { TurnPieces } from '../core/work/turn-pieces.ts'
import { consult } from '../core/work/verbs.ts'
import { parseAnswer } from '../core/data/json-answer.ts'
import { clipped, firstLine, jsonInstructions, quoted } from './prompt-text.ts'

/** How many tokens of the conversation a consulted agent gets: in consensus, five agents get them. */
const toldTokens = 6_000

/** How long to wait for a consulted agent, which reads files before it answers. */
export const answerMs = 180_000

/** A longer answer is cut, because it would fill the prompts of all later agents. */
const longestAnswer = 64_000

/** How many more calls each yes of the person allows. */
const fewMore = 3

/** After two councils that did not reach a goal, a person is needed. */
const mostCouncils = 2

/** A person said no, gave no answer, or is not there: all three are the same to the framework. */
const declined = failed('denied', 'nobody agreed to another call')

/** The outcome of a consultation, and the agent that really answered. */
type Consultation = { outcome: Outcome; by: string }

/** An answer in the wanted form, otherwise its text, otherwise the reason why there is no answer. */
export type ShapedAnswer<T> = { by: string; words?: string } & ParsedAnswer<T>

/** One turn as a framework sees it: everything done so far is history for the next acting agent. */
export class ThinkingTurn {
  readonly framework: Framework
  readonly turn: Turn
  readonly resources: Resources
  /** The result of the last check that could be made. */
  passed: boolean | undefined
  /** How many agents were consulted. */
  calls = 0
  #pieces: TurnPieces
  #watch: ReadOnlyWatch
  /** The number of calls that the person agreed to; negative after a no. */
  #agreed: number
  #overBudget: Outcome | undefined
  #councils = 0

  constructor(framework: Framework, turn: Turn, resources: Resources) {
    this.framework = framework
    this.turn = turn
    this.#pieces = new TurnPieces(turn)
    this.resources = resources
    this.#watch = new ReadOnlyWatch(resources)
    this.#agreed = resources.moreCalls?.agreed ?? Infinity
  }

  /** Why no further work begins, once the turn is cancelled or its budget is used up. */
  get over(): Outcome | undefined {
    return this.turn.signal.aborted ? failed('aborted', 'cancelled') : this.#overBudget
  }

  /** The agent that asked for advice and acts itself. */
  caller: string | undefined

  /** The agent that acted last, if any. */
  get actor(): string | undefined {
    return this.#pieces.actor ?? this.caller
  }

  /** Removes the limit on calls, because the person saw their cost and agreed. */
  allowMoreCalls(): void {
    this.#agreed = Infinity
  }

  /** Whether the whole council may be asked again: a person first sees its cost, and it meets only a few times in a turn. */
  async *mayConvene(asks: readonly RoleAssignment[]): AsyncGenerator<Event, boolean> {
    const { moreCalls } = this.resources
    if (this.over || this.#councils === mostCouncils || this.#agreed < 0) return false
    this.#councils++
    if (!moreCalls) return true
    const may = yield* moreCalls.mayConvene(asks, this.turn)
    if (may) this.#agreed = Math.max(this.#agreed, this.calls + asks.length)
    return may
  }

  /** An event that says what the framework is doing. */
  phase(words: string): Event {
    return { type: 'phase', framework: this.framework, words: firstLine(words), by: 'termaite' }
  }

  /** Has the actor do a part of the turn, whose events belong to the turn itself. */
  async *act(words: string): AsyncGenerator<Event, Outcome> {
    if (this.over) return this.over
    const { turn } = this
    const { actor, maskAdvice } = this.resources
    // The person's own text goes to the actor unchanged.
    const prompt = words.split(turn.prompt).map(maskAdvice).join(turn.prompt)
    this.#watch.end()
    const { description } = this.resources.machine
    const outcome = yield* this.#pieces.act(actor, prompt, description)
    return this.#noteBudget(outcome)
  }

  /**
   * Has an agent do a part of the turn in a separate folder, perhaps at the same time as another one: its events are marked with its
   * role.
   */
  async *actAside(
    role: string,
    prompt: string,
    { actor, cwd }: { actor: Agent; cwd: string },
  ): AsyncGenerator<Event, Consultation> {
    if (this.over) return { outcome: this.over, by: actor.name }
    const { turn } = this
    // The agent's own thread is not continued, because two at once would both write to it.
    const history = this.#pieces.history.filter(({ type }) => type !== 'thread')
    const { sent: _, attended: __, ...own } = turn
    const { description: machine } = this.resources.machine
    const asked = consult(actor, role, { ...own, prompt, machine, history, cwd }, turn.leash)
    const { outcome, by } = yield* signed(asked, actor.name)
    return { outcome: this.#noteBudget(outcome), by }
  }

  /** Adds work that was done separately to the history of the next acting agent. */
  remember(prompt: string, text: string, by: string): void {
    this.#pieces.remember(prompt, text, by)
  }

  /** Asks one agent for its answer alone; silence for `ms` is a failure. `enough` aborts when the answer is no longer needed. */
  async *ask(
    { role, agent }: RoleAssignment,
    prompt: string,
    ms = answerMs,
    enough?: AbortSignal,
  ): AsyncGenerator<Event, Consultation> {
    const { turn, resources } = this
    if (!this.over && !(yield* this.#mayAsk({ role, agent }))) return { outcome: this.over ?? declined, by: agent }
    const told = consultedHistory(turn)
    if (this.over) return { outcome: this.over, by: agent }
    // The budget is reserved before anything starts: if a council is too expensive, none of its advisors is asked in vain.
    const held = turn.budget.reserve(estimateTokens(prompt) + viewTokens(told))
    if (held.failure) return { outcome: this.#noteBudget({ ok: false, failure: held.failure }), by: agent }
    const late = new AbortController()
    const settled = new AbortController()
    // The timer need not be awaited: it only aborts a consultation that is still running.
    callAfter(turn.clock, ms, settled.signal, () => late.abort())
    const { files: _, sent: __, attended: ___, ...own } = turn
    const { budget } = held
    const { description: machine } = resources.machine
    const asked: Turn = { ...own, budget, prompt, machine, history: told, attempts: [], steered: [] }
    const signal = AbortSignal.any([turn.signal, late.signal, ...(enough ? [enough] : [])])
    try {
      // Some agents emit nothing before their answer, so the screen shows at once which one is asked.
      yield { type: 'inner', role, event: { type: 'state', state: 'starting', by: agent } }
      this.calls++
      await this.#watch.begin()
      const reader = resources.openReader(agent, told)
      const ended = yield* signed(consult(reader, role, { ...asked, signal }), agent)
      const silent = late.signal.aborted && !turn.signal.aborted && !ended.outcome.ok
      const outcome = silent ? failed('timeout', `no answer in ${Math.round(ms / 1000)} s`) : ended.outcome
      yield* this.#watch.report(ended.by)
      return { outcome: this.#noteBudget(outcome.ok ? cut(outcome) : outcome), by: ended.by }
    } finally {
      held.release()
      settled.abort()
    }
  }

  /** Asks for an answer of a given shape; an unreadable one is sent back up to `again` times with a description of the mistake. */
  async *askFor<T>(
    asked: RoleAssignment,
    prompt: string,
    shape: Parser<T>,
    again = 1,
    ms?: number,
    enough?: AbortSignal,
  ): AsyncGenerator<Event, ShapedAnswer<T>> {
    const wanted = `${prompt}\n\n${jsonInstructions(shape.schema)}`
    let heard = yield* this.ask(asked, wanted, ms, enough)
    let words: string | undefined
    for (let left = again; ; left--) {
      const { outcome, by } = heard
      // If an agent could not repair its answer, the text of the answer is still used.
      if (!outcome.ok) return defined({ ok: false as const, why: outcome.failure.message, by, words })
      words = outcome.text
      const parsed = parseAnswer(words, shape)
      if (parsed.ok || left <= 0) return { ...parsed, by, words }
      const repair = `You were asked this before, and your answer could not be read: ${parsed.why}\n${quoted('answer', clipped(words, 8_000))}`
      heard = yield* this.ask({ ...asked, agent: by }, `${wanted}\n\n${repair}`, ms, enough)
    }
  }

  /** Beyond the agreed calls the person is asked: a yes allows a few more, a no ends all further calls. */
  async *#mayAsk(asked: RoleAssignment): AsyncGenerator<Event, boolean> {
    const { resources, turn, calls } = this
    if (calls < this.#agreed || !resources.moreCalls) return true
    if (this.#agreed < 0) return false
    const may = yield* resources.moreCalls.may(asked, calls, turn)
    this.#agreed = may ? calls + fewMore : -1
    return may
  }

  /** A used-up budget ends the whole turn, whichever call exceeded it. */
  #noteBudget(outcome: Outcome): Outcome {
    const by = outcome.ok ? undefined : outcome.failure.stoppedBy
    if (by === 'tokens' || by === 'cost') this.#overBudget ??= outcome
    return outcome
  }
}

/** The outcome of a consultation with the agent that replied, which may have replaced the requested one. */
async function* signed(asked: ReturnType<typeof consult>, agent: string): AsyncGenerator<Event, Consultation> {
  let by = agent
  const outcome = yield* relay(asked, (inner) => {
    if (inner.event.type === 'reply') by = inner.event.by ?? by
    return inner
  })
  return { outcome, by }
}

const cut = (outcome: Outcome & { ok: true }): Outcome => ({ ...outcome, text: clipped(outcome.text, longestAnswer) })

/** The part of the conversation for a consulted agent; its own thread is left to the acting agent. */
export const consultedHistory = ({ history }: Pick<Turn, 'history'>) =>
  lastTurns(history, toldTokens).filter(({ type }) => type !== 'thread')

export const note = (text: string): Event => ({ type: 'note', text, by: 'termaite' })

const mostNamed = 8

/** Watches the files while agents are asked that only promise to read. */
class ReadOnlyWatch {
  #resources: Pick<Resources, 'promisedReaders' | 'checkpoints'>
  #mark: Promise<string | undefined> | undefined

  constructor(resources: Pick<Resources, 'promisedReaders' | 'checkpoints'>) {
    this.#resources = resources
  }

  /** Called before an agent is asked; agents that are asked at the same time share one mark. */
  async begin(): Promise<void> {
    const { promisedReaders = [], checkpoints } = this.#resources
    if (promisedReaders.length === 0 || !checkpoints) return
    await (this.#mark ??= checkpoints.mark().catch(() => undefined))
  }

  /** Called after an agent answered: reports the files that changed meanwhile, each change once. */
  async *report(by: string): AsyncGenerator<Event, void> {
    const { promisedReaders, checkpoints } = this.#resources
    const mark = promisedReaders?.includes(by) ? await this.#mark : undefined
    if (mark === undefined) return
    const since = await checkpoints?.since(mark).catch(() => undefined)
    if (!since || since.files.length === 0) return
    this.#mark = Promise.resolve(since.seen)
    const more = since.files.length > mostNamed ? ` and ${since.files.length - mostNamed} more` : ''
    yield note(
      `${by} only promised to read, but these files changed while it was asked: ${since.files.slice(0, mostNamed).join(', ')}${more}; /diff shows the changes, /undo reverts them`,
    )
  }

  /** Called before an agent acts: from now on changes of files are expected. */
  end(): void {
    this.#mark = undefined
  }
}
