import type { Entry, Event, Fact } from '../../core/talk/entry.ts'
import type { Outcome } from '../../core/talk/outcome.ts'
import type { Agent, Turn } from '../../core/work/agent.ts'
import type { Framework } from '../../core/talk/framework.ts'
import type { Parser } from '../../core/work/shape.ts'
import type { Read } from './answer.ts'
import type { Asked, Minds } from './minds.ts'
import { newId } from '../../base/id.ts'
import { relay } from '../../base/relay.ts'
import { isFact } from '../../core/talk/entry.ts'
import { failed } from '../../core/talk/outcome.ts'
import { estimateTokens, viewTokens } from '../../core/talk/tokens.ts'
import { lastTurns, view } from '../../core/talk/view.ts'
import { consult, take } from '../../core/work/verbs.ts'
import { answerIn } from './answer.ts'
import { Promises } from './promise.ts'
import { answerWith, clipped, firstLine, quoted } from './words.ts'

/** So much of the conversation is told to whoever is only asked: five of them are told it. */
const toldTokens = 6_000

/** How long somebody is waited for who is only asked; they look at files before they answer. */
export const patienceMs = 180_000

/** Nobody who is only asked has more to say; what is longer would fill the prompts of all who come after. */
const mostHeard = 64_000

/** An answer, and who really gave it. */
export type Heard = { outcome: Outcome; by: string }

/** An answer that could be read as what was asked for, else its words, else why there is none. */
export type Told<T> = { by: string; words?: string } & Read<T>

/** One turn as a framework goes through it: what was done so far is history for whoever acts next. */
export class Course {
  readonly framework: Framework
  readonly turn: Turn
  readonly minds: Minds
  /** What a check said last, where one could be made. */
  passed: boolean | undefined
  /** How many were asked besides. */
  calls = 0
  #done: Entry[] = []
  #pieces = 0
  #awaited = 0
  #promises: Promises
  #agreed: number
  #refused: Outcome | undefined

  constructor(framework: Framework, turn: Turn, minds: Minds) {
    this.framework = framework
    this.turn = turn
    this.minds = minds
    this.#promises = new Promises(minds)
    this.#agreed = minds.more?.agreed ?? Infinity
  }

  /** Why nothing more is to be begun, once that is so: cancelled, or the purse is empty. */
  get over(): Outcome | undefined {
    return this.turn.signal.aborted ? failed('aborted', 'cancelled') : this.#refused
  }

  /** What follows was shown, and agreed to. */
  agree(): void {
    this.#agreed = Infinity
  }

  /** Where things stand, for whoever watches. */
  phase(words: string): Event {
    return { type: 'phase', framework: this.framework, words: firstLine(words), by: 'termaite' }
  }

  /** Who acted last, if anybody did. */
  get actor(): string | undefined {
    return this.#done.findLast(({ type }) => type === 'reply')?.by
  }

  /** A piece of the turn, taken by whoever acts: its events are the turn's own. */
  async *act(prompt: string): AsyncGenerator<Event, Outcome> {
    if (this.over) return this.over
    const { turn, minds } = this
    this.#promises.over()
    const piece = `${turn.id}.${++this.#pieces}`
    const now: Entry[] = []
    const keep = (fact: Fact, by: string) => {
      const at = turn.clock.now()
      now.push({ ...fact, id: newId(at), at, by, session: '', turn: piece } as Entry)
    }
    keep({ type: 'prompt', text: prompt }, 'user')
    const steer: Turn['steer'] = async (until) => {
      const typed = await turn.steer(until)
      // Whoever takes the next piece is told it too.
      for (const text of typed) keep({ type: 'steer', text }, 'user')
      return typed
    }
    const history = view([...turn.history, ...this.#done])
    const outcome = yield* relay(take(minds.actor, { ...turn, prompt, steer, history }), (event) => {
      const { by = minds.actor.name, ...fact } = event
      if (isFact(event)) keep(fact as Fact, by)
      return event
    })
    keep({ type: 'end', outcome }, minds.actor.name)
    this.#done.push(...now)
    return this.#judged(outcome)
  }

  /** A piece of the turn that somebody takes in a folder of its own, maybe beside another: its events are told apart by its role. */
  async *aside(role: string, prompt: string, seat: { actor: Agent; cwd: string }): AsyncGenerator<Event, Heard> {
    const { turn } = this
    let by = seat.actor.name
    if (this.over) return { outcome: this.over, by }
    // Nobody's own thread is gone on with: two at once would both write to it.
    const history = view([...turn.history, ...this.#done]).filter(({ type }) => type !== 'thread')
    const { sent: _, attended: __, ...own } = turn
    const asked = consult(seat.actor, role, { ...own, prompt, history, cwd: seat.cwd }, turn.leash)
    const outcome = yield* relay(asked, (inner) => {
      if (inner.event.type === 'reply') by = inner.event.by ?? by
      return inner
    })
    return { outcome: this.#judged(outcome), by }
  }

  /** What was done aside, as whoever acts next is told it. */
  learn(prompt: string, text: string, by: string): void {
    const at = this.turn.clock.now()
    const of = { at, session: '', turn: `${this.turn.id}.${++this.#pieces}` }
    this.#done.push(
      { type: 'prompt', text: prompt, id: newId(at), by: 'user', ...of },
      { type: 'reply', text, id: newId(at), by, ...of },
      { type: 'end', outcome: { ok: true, text }, id: newId(at), by, ...of },
    )
  }

  /** Asks one agent for its answer alone; a silence that lasts too long is one more way to fail. `enough`: nobody waits for it any more. */
  async *ask(
    { role, agent }: Asked,
    prompt: string,
    ms = patienceMs,
    enough?: AbortSignal,
  ): AsyncGenerator<Event, Heard> {
    const { turn, minds } = this
    if (!this.over && !(yield* this.#may({ role, agent }))) return { outcome: this.over ?? unwanted, by: agent }
    const told = toldOf(turn)
    const need = estimateTokens(prompt) + viewTokens(told)
    // What those take who are at work already is not in the purse any more, though nobody has paid it yet.
    const refusal = this.#awaited > 0 && !this.over ? turn.budget.refuse(this.#awaited + need) : undefined
    if (refusal) this.#judged({ ok: false, failure: refusal })
    if (this.over) return { outcome: this.over, by: agent }
    this.#awaited += need
    const late = new AbortController()
    const settled = new AbortController()
    void turn.clock.sleep(ms, settled.signal).then(() => settled.signal.aborted || late.abort())
    const { files: _, sent: __, attended: ___, ...own } = turn
    const asked: Turn = { ...own, prompt, history: told, attempts: [], steered: [] }
    const signal = AbortSignal.any([turn.signal, late.signal, ...(enough ? [enough] : [])])
    const events = consult(minds.reader(agent, told), role, { ...asked, signal })
    let by = agent
    try {
      // Whoever watches sees at once whom an answer is awaited from: some say nothing until they have it.
      yield { type: 'inner', role, event: { type: 'state', state: 'starting', by: agent } }
      this.calls++
      await this.#promises.asked()
      const ended = yield* relay(events, (inner) => {
        if (inner.event.type === 'reply') by = inner.event.by ?? by
        return inner
      })
      const silent = late.signal.aborted && !turn.signal.aborted && !ended.ok
      const outcome = silent ? failed('timeout', `no answer in ${Math.round(ms / 1000)} s`) : ended
      yield* this.#promises.answered(by)
      return { outcome: this.#judged(outcome.ok ? bounded(outcome) : outcome), by }
    } finally {
      this.#awaited -= need
      settled.abort()
    }
  }

  /** Asks for an answer of a shape; one that cannot be read is sent back with what is wrong, so often. */
  async *askFor<T>(
    asked: Asked,
    prompt: string,
    shape: Parser<T>,
    again = 1,
    ms?: number,
    enough?: AbortSignal,
  ): AsyncGenerator<Event, Told<T>> {
    const wanted = `${prompt}\n\n${answerWith(shape.schema)}`
    let heard = yield* this.ask(asked, wanted, ms, enough)
    let words: string | undefined
    for (let left = again; ; left--) {
      const { outcome, by } = heard
      // Whoever cannot mend an answer has still given it in words.
      if (!outcome.ok) return { ok: false, why: outcome.failure.message, by, ...(words === undefined ? {} : { words }) }
      words = outcome.text
      const read = answerIn(words, shape)
      if (read.ok || left <= 0) return { ...read, by, words }
      const repair = `You were asked this before, and your answer could not be read: ${read.why}\n${quoted('answer', clipped(words, 8_000))}`
      heard = yield* this.ask({ ...asked, agent: by }, `${wanted}\n\n${repair}`, ms, enough)
    }
  }

  /** Beyond what was shown nobody is asked unless the person says so: a few more at a time, or none. */
  async *#may(asked: Asked): AsyncGenerator<Event, boolean> {
    const { minds, turn, calls } = this
    if (calls < this.#agreed) return true
    if (this.#agreed < 0) return false
    const may = yield* minds.more!.may(asked, calls, turn)
    this.#agreed = may ? calls + fewMore : -1
    return may
  }

  /** An empty purse ends the whole turn, whoever of it came to feel that. */
  #judged(outcome: Outcome): Outcome {
    if (!outcome.ok && outcome.failure.kind === 'budget') this.#refused ??= outcome
    return outcome
  }
}

/** So many more may be asked after a yes. */
const fewMore = 3

const unwanted = failed('denied', 'the person wants nobody else asked')

const bounded = (outcome: Outcome & { ok: true }): Outcome => ({ ...outcome, text: clipped(outcome.text, mostHeard) })

/** What of the conversation is told to whoever is only asked: its own thread is not gone on with, which is for whoever acts. */
export const toldOf = ({ history }: Pick<Turn, 'history'>) =>
  lastTurns(history, toldTokens).filter(({ type }) => type !== 'thread')

export const note = (text: string): Event => ({ type: 'note', text, by: 'termaite' })
