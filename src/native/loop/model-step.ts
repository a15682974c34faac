import type { Event, Usage } from '../../core/talk/entry.ts'
import type { Failure } from '../../core/talk/outcome.ts'
import type { Turn } from '../../core/work/agent.ts'
import type { InvalidRequest, Model, ModelEvent, ModelRequest } from '../../core/work/model.ts'
import { defined } from '../../base/defined.ts'

export type Call = Extract<ModelEvent, { type: 'call' }>

type Whole = { text: string; calls: Call[]; stop: 'done' | 'calls' | 'length' | 'refused'; opaque?: unknown }

/** One answer of the model, or the reason why the model gave no answer, and its usage. */
export type Answer = { usage: Usage[] } & (
  | (Whole & { failure?: undefined })
  | { failure: Failure; invalid?: InvalidRequest }
)
export type WholeAnswer = Extract<Answer, Whole>

/** How long one answer is retried while no other agent can take the turn. */
export type Patience = { seconds: number; random(): number }

export const usualPatience: Patience = { seconds: 600, random: Math.random }

/** The part of a turn that an answer needs. */
type Around = Pick<Turn, 'signal' | 'clock' | 'waits' | 'othersFree'>

/** An attempt that failed for a temporary reason. `piece`: the text that arrived before the failure. */
type Failed = { failure: Failure; passing: boolean; invalid?: InvalidRequest; piece: string }

/**
 * Asks the model for one answer: streams its text and thoughts, and returns the whole answer. After a temporary failure the request is
 * retried, continuing the broken answer. No call of a broken answer is returned, so that none is made twice.
 */
export async function* askModel(
  model: Model,
  request: ModelRequest,
  turn: Around,
  patience: Patience = usualPatience,
): AsyncGenerator<Event, Answer> {
  const usage: Usage[] = []
  const begun: string[] = []
  const waits = new Waits(turn, patience)
  for (;;) {
    const asked: ModelRequest = begun.length > 0 ? { ...request, begun: [...begun] } : request
    const answer = yield* tryOnce(model, asked, turn.signal, usage)
    if (!('failure' in answer)) return { usage, ...answer, text: begun.join('') + answer.text }
    const { failure, passing, invalid, piece } = answer
    // An answer cannot be continued from white space alone.
    if (piece.trim() !== '') begun.push(piece)
    if (!passing) return defined({ usage, failure, invalid })
    const pause = waits.next(failure, piece.trim() !== '', invalid !== undefined)
    if (pause === undefined) return defined({ usage, failure: waits.given(failure), invalid })
    await waits.wait(failure, pause)
    if (turn.signal.aborted) return { usage, failure: { kind: 'aborted', message: 'cancelled' } }
  }
}

async function* tryOnce(
  model: Model,
  request: ModelRequest,
  signal: AbortSignal,
  usage: Usage[],
): AsyncGenerator<Event, Whole | Failed> {
  let text = ''
  const calls: Call[] = []
  for await (const event of model.stream(request, signal)) {
    switch (event.type) {
      case 'text':
        text += event.delta
        yield event
        break
      case 'thought':
        yield event
        break
      case 'call':
        calls.push(event)
        break
      case 'usage':
        usage.push({ type: 'usage', ...event.usage })
        break
      case 'failure':
        return defined({
          failure: event.failure,
          passing: event.passing === true,
          invalid: event.invalid,
          piece: text,
        })
      case 'end':
        return defined({ text, calls, stop: event.stop, opaque: event.opaque })
    }
  }
  const message = `${model.name} stopped in the middle of its answer`
  return { failure: { kind: 'crash', message }, passing: false, piece: text }
}

/** The first and the longest pause; in between, the pause doubles. */
const firstPauseMs = 1000
const longestPauseMs = 60_000

/** While another agent is free, a broken connection is retried this often, and a busy provider not at all. */
const triesBesideOthers = 2

/** If a provider could not parse a call, another try may succeed, but not after many tries of the same request. */
const triesOfInvalid = 2

/** The pauses between the tries of one answer. */
class Waits {
  #turn: Around
  #patience: Patience
  #began: number | undefined
  #tries = 1
  /** How often the pause has doubled since data last arrived. */
  #doubled = 0

  constructor(turn: Around, patience: Patience) {
    this.#turn = turn
    this.#patience = patience
  }

  /** Returns how long to wait before the next try, in ms; undefined to give up this answer. */
  next(failure: Failure, moved: boolean, invalid: boolean): number | undefined {
    const { clock, othersFree } = this.#turn
    if (invalid && this.#tries > triesOfInvalid) return undefined
    if (othersFree?.() && (failure.kind === 'busy' || this.#tries > triesBesideOthers)) return undefined
    this.#began ??= clock.elapsed()
    if (moved) this.#doubled = 0
    const usual = Math.min(longestPauseMs, firstPauseMs * 2 ** this.#doubled++)
    const random = this.#patience.random()
    // Half of the pause is random, so that many clients do not return at the same moment; a time that the provider stated is never
    // shortened.
    const stated = failure.retryAt === undefined ? 0 : failure.retryAt - clock.now()
    const pause = Math.round(stated > 0 ? stated + (random * Math.min(usual, stated)) / 4 : usual * (0.5 + random / 2))
    if (clock.elapsed() - this.#began + pause > this.#patience.seconds * 1000) return undefined
    this.#tries++
    return pause
  }

  async wait({ message }: Failure, pause: number): Promise<void> {
    const { clock, signal, waits } = this.#turn
    waits?.(message, clock.now() + pause)
    await clock.sleep(pause, signal)
  }

  /** The failure of an abandoned answer, which says what was tried. */
  given(failure: Failure): Failure {
    if (this.#tries === 1) return failure
    const { clock } = this.#turn
    const seconds = Math.round((clock.elapsed() - (this.#began ?? clock.elapsed())) / 1000)
    const span = seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} minutes`
    const words = failure.message.replace(/\.$/, '')
    return { ...failure, message: `${words}. It was tried ${this.#tries} times in ${span}.` }
  }
}
