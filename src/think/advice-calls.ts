import type { Event } from '../core/talk/entry.ts'
import type { Framework } from '../core/talk/framework.ts'
import type { Outcome } from '../core/talk/outcome.ts'
import type { Turn } from '../core/work/agent.ts'
import type { RoleAssignment } from './resources.ts'
import type { AdviceRequest, ThinkingParts } from './thinking-parts.ts'
import { messageOf } from '../base/error-message.ts'
import { askAgreement, assignmentLines, costWords } from './cost-consent.ts'
import { clipped, firstLine, plural } from './prompt-text.ts'
import { prepared } from './thinking-parts.ts'
import { note, ThinkingTurn } from './thinking-turn.ts'

/** The longest advice: more would fill the window of the agent that asked for it. */
const longestAdvice = 24_000

/**
 * The calls for thought that the acting agent makes in one turn. Each is answered only with advice: the agent that called does the work.
 * They use the turn's budget, and without a person no more extra calls are made than the settings allow.
 */
export class AdviceCalls {
  /** How many agents were asked in this turn besides the acting one. */
  calls = 0
  #o: ThinkingParts
  #turn: Turn
  /** The answer to each request, by its text: a repeated request gets the answer of the first call. */
  #answers = new Map<string, Promise<string>>()
  #over = new AbortController()
  #waiting: { event: Event; taken(): void }[] = []
  #wake = () => {}
  /** The acting agent, if its events have revealed its name. */
  #caller: string | undefined
  /** Whether nobody reads events any more. */
  #left = false
  /** Whether the person agreed to the cost in this turn. */
  #allowed = false

  constructor(o: ThinkingParts, turn: Turn) {
    this.#o = o
    this.#turn = turn
  }

  /** Answers a request; `signal` only ends the waiting, so that the same request can be repeated later. */
  ask({ framework, question }: AdviceRequest, signal?: AbortSignal): Promise<string> {
    const key = `${framework}\n${question.trim()}`
    const answer = this.#answers.get(key) ?? this.#think({ framework, question })
    this.#answers.set(key, answer)
    // A failed request may succeed the next time, so it is dropped. Its error is caught here, because nobody may be waiting for it any
    // more.
    answer.catch(() => this.#answers.delete(key))
    return signal ? unlessAborted(answer, signal) : answer
  }

  /**
   * Yields the events of the acting agent, and between them those of the agents that it asks. An event is stored before the agent that
   * emitted it continues.
   */
  async *beside(acting: AsyncGenerator<Event, Outcome>): AsyncGenerator<Event, Outcome> {
    let step: IteratorResult<Event, Outcome> | undefined
    let fault: { error: unknown } | undefined
    let settled = false
    const advance = () => {
      step = undefined
      acting.next().then(
        (next) => ((step = next), this.#wake()),
        (error) => ((fault = { error }), this.#wake()),
      )
    }
    // Advice that arrives after the end is of no use, but its cost is still recorded.
    const stop = () => {
      if (this.#over.signal.aborted) return
      this.#over.abort()
      void Promise.allSettled(this.#answers.values()).then(() => ((settled = true), this.#wake()))
    }
    advance()
    try {
      for (;;) {
        const advised = this.#waiting.shift()
        if (advised) {
          yield advised.event
          advised.taken()
        } else if (fault) throw fault.error
        else if (step?.done && settled) return step.value
        else if (step && !step.done) {
          this.#caller = step.value.by ?? this.#caller
          yield step.value
          advance()
        } else {
          if (step) stop()
          await new Promise<void>((resolve) => (this.#wake = resolve))
        }
      }
    } finally {
      this.#left = true
      stop()
      for (const { taken } of this.#waiting.splice(0)) taken()
      await Promise.allSettled(this.#answers.values())
      await acting.return(undefined as unknown as Outcome)
    }
  }

  #show(event: Event): Promise<void> {
    if (this.#left) return Promise.resolve()
    return new Promise((taken) => {
      this.#waiting.push({ event, taken })
      this.#wake()
    })
  }

  async #think({ framework, question }: AdviceRequest): Promise<string> {
    const signal = AbortSignal.any([this.#turn.signal, this.#over.signal])
    const ready = await prepared(framework, { ...this.#o, how: framework })
    if ('lacks' in ready) throw new Error(`${framework} cannot be used here: ${ready.lacks}. Go on without it.`)
    const { advice } = ready.definition
    const asks = advice.asks(ready.resources)
    const turn = { ...this.#turn, prompt: question, leash: 'read' as const, signal }
    const words = `the agent asked for ${framework}: ${firstLine(question, 120)}`
    await this.#consent(framework, asks, words, ready.resources, turn)
    const thinking = new ThinkingTurn(framework, turn, {
      ...ready.resources,
      moreCalls: {
        agreed: asks.length,
        may: () => this.#mayCallMore(turn),
        mayConvene: () => this.#mayCallMore(turn),
      },
    })
    thinking.caller = this.#caller
    try {
      const advising = advice.advise(thinking)
      for (;;) {
        const next = await advising.next()
        if (!next.done) await this.#show(next.value)
        else if (next.value.ok) return clipped(ready.resources.maskAdvice(next.value.text), longestAdvice)
        else throw new Error(`no advice came from ${framework}: ${next.value.failure.message}. Go on without it.`)
      }
    } finally {
      this.calls += thinking.calls
    }
  }

  /** Asks the person before an expensive call; if nobody can be asked, calls beyond the allowed number are refused. */
  async #consent(
    framework: Framework,
    asks: readonly RoleAssignment[],
    words: string,
    resources: ThinkingTurn['resources'],
    turn: Turn,
  ): Promise<void> {
    const { agreed, freeCalls, agree } = this.#o
    const total = this.calls + asks.length
    const calls = plural(asks.length, 'extra call')
    if (agreed || this.#allowed || total <= freeCalls) {
      await this.#show(note(`thinking: ${words}; ${calls} (${assignmentLines(asks).join('; ')})`))
      return
    }
    if (!turn.attended) {
      await this.#show(note(`thinking: ${words}; refused, because nobody is here to agree to ${calls}`))
      throw new Error(
        `This call was refused: ${framework} takes ${calls}, ${plural(this.calls, 'call')} were made, and without a person at most ${freeCalls} are made in a turn. Go on without it, or name in your answer what should be thought through. The person can allow more with --think-calls or "thinkingCalls" in the settings.`,
      )
    }
    const cost = costWords(asks, 1, resources, turn)
    const shows = [
      { type: 'text' as const, text: `${question(turn)}\n\n${assignmentLines(asks, resources).join('\n')}` },
    ]
    const card = { text: `The agent wants this thought through with ${framework}: ${calls}, about ${cost}.`, shows }
    const asking = askAgreement(card, { agree }, turn, 'No, the agent goes on without it')
    let next = await asking.next()
    for (; !next.done; next = await asking.next()) await this.#show(next.value)
    await this.#show(note(`thinking: ${words}; ${next.value ? calls : 'you declined'}`))
    if (!next.value)
      throw new Error(
        'This call was refused: the person declined. Go on without it, and do not ask again in this turn.',
      )
    this.#allowed = true
  }

  /** Beyond the announced calls, one more is made only if the person agreed to all of them. */
  async *#mayCallMore(turn: Turn): AsyncGenerator<Event, boolean> {
    return this.#o.agreed || (this.#allowed && turn.attended === true)
  }
}

const question = ({ prompt }: Turn) => clipped(prompt, 600)

/** The answer, or a rejection once the signal aborts; the call itself continues. */
function unlessAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(new Error(messageOf(signal.reason)))
    if (signal.aborted) return leave()
    signal.addEventListener('abort', leave, { once: true })
    answer.finally(() => signal.removeEventListener('abort', leave)).then(resolve, reject)
  })
}
