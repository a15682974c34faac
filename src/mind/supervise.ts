import type { Event } from '../core/talk/entry.ts'
import type { Failure, Outcome } from '../core/talk/outcome.ts'
import type { Ask } from '../core/talk/question.ts'
import type { Agent, Turn } from '../core/work/agent.ts'
import type { Caring } from './supervise/care.ts'
import type { Life } from './supervise/life.ts'
import type { Open } from './supervise/parts.ts'
import type { Over } from './supervise/telling.ts'
import type { Ending } from './supervise/verdict.ts'
import type { FailedAttempt } from './attempt.ts'
import { failed } from '../core/talk/outcome.ts'
import { take } from '../core/work/verbs.ts'
import { AttemptRecord } from './attempt.ts'
import { Care } from './supervise/care.ts'
import { againWords } from './supervise/words.ts'

export type Supervision = Caring & {
  mask(text: string): string
  /** What one that knows nothing is told first. */
  opening?: string
  /** Before a prompt is typed: by this id it is known again, and `prompt` is what was asked, however it is worded now. */
  sending?(turn: Pick<Turn, 'id' | 'prompt'>): Promise<void>
  /** The key of its own session, as it is told. */
  session?(key: string): void
}

/** An agent that is kept at work, and what its keeper needs between its turns. */
export interface Supervised extends Agent {
  /** Why it is not at work any more. */
  readonly over: Over | undefined
  /** Whether it was told nothing yet. */
  readonly blank: boolean
  start(signal: AbortSignal, ask?: Ask): Promise<Failure | undefined>
  /** Waits until it leaves by itself; undefined when the signal aborts first. */
  ends(signal: AbortSignal): Promise<Ending | undefined>
  /** Waits until it has drawn nothing for so long and nobody types; whether it is idle then. */
  rests(ms: number, signal: AbortSignal): Promise<boolean>
  /** Starts one that left by itself again, if that is to be done. */
  revive(ending: Ending, signal: AbortSignal, ask: Ask): Promise<void>
  leave(): Promise<void>
}

/**
 * Keeps one agent at work: what crashes is opened again on its own thread and told to go on, what is out of quota waits
 * for it, and what a person has quit stays so. `session` is the thread it begins with.
 */
export function supervise(open: Open, supervision: Supervision, session?: string): Supervised {
  const care = new Care(open, supervision, session)
  const { name, traits } = care.life.agent

  async function start(signal: AbortSignal, ask?: Ask): Promise<Failure | undefined> {
    for (let nudges = 0; ;) {
      if (care.over) return quitFailure(name)
      const { life } = care
      const failure = await life.agent.start?.(signal, ask)
      if (!failure || signal.aborted) return failure
      const plan = await care.plan(life, { failure, inHand: true, nudges })
      if (!plan) return failure
      if (plan.nudges) nudges++
      await plan.go(signal)
    }
  }

  async function* work(turn: Turn): AsyncGenerator<Event, Outcome> {
    // Whoever asks one again that was given up means it.
    if (!overOutcome()) care.over = undefined
    let nudges = 0
    let before: FailedAttempt[] | undefined
    while (!turn.signal.aborted) {
      const quit = overOutcome()
      if (quit) return quit
      const { life } = care
      await care.free(life, turn.signal)
      const gone = await endingOf(life)
      // One that left while nobody asked it anything is seen to first: an agent would silently open it again.
      const asked = gone.ending ? undefined : before ? again(turn, life, before) : first(turn, life)
      const tried = asked && (yield* once(life, asked, turn.prompt))
      if (tried?.outcome.ok) {
        care.well(life)
        return tried.outcome
      }
      const outcome = tried && !tried.outcome.ok ? tried.outcome : failed('crash', `${name} had left`)
      if (turn.signal.aborted) return outcome
      const inHand = turn.prompt !== supervision.opening
      const plan = await care.plan(life, { ...gone, ...tried?.trouble, inHand, nudges })
      if (!plan) {
        care.told()
        return overOutcome() ?? outcome
      }
      nudges = plan.nudges ? nudges + 1 : 0
      if (tried) {
        const crashed = await tried.record.failed(outcome.failure)
        before = [...(before ?? []), crashed]
        yield crashed
      }
      // What another process kept and never typed is not waited for: nobody is at it.
      if (!plan.nudges || asked?.sent === undefined) await plan.go(turn.signal)
    }
    return failed('aborted', 'cancelled')
  }

  /** What a person has quit, or somebody let go of, is not begun again. */
  function overOutcome(): Outcome | undefined {
    if (care.over?.type === 'quit') return { ok: false, failure: quitFailure(name) }
    return care.over?.type === 'left' ? failed('aborted', `${name} was left`) : undefined
  }

  /** What was sent by a process that is gone is only watched where its program lives. */
  function first(turn: Turn, { came }: Life): Turn {
    const prompt = opened(turn.prompt)
    if (turn.sent === undefined) return { ...turn, prompt }
    if (came === 'there') return turn
    const { sent: _, ...anew } = turn
    return { ...anew, id: `${turn.id}-again`, prompt: againWords(prompt, came) }
  }

  function again(turn: Turn, life: Life, before: readonly FailedAttempt[]): Turn {
    const { sent: _, ...anew } = turn
    const how = life.lives ? 'there' : life.came
    // Each try has marks of its own, so that no answer is taken for another one's; only who knows nothing is told of them.
    const attempts = how === 'began' ? [...turn.attempts, ...before] : turn.attempts
    return { ...anew, id: `${turn.id}-${before.length}`, prompt: againWords(opened(turn.prompt), how), attempts }
  }

  function opened(prompt: string): string {
    const { opening = prompt } = supervision
    return care.blank && opening !== prompt ? `${opening}\n\n${prompt}` : prompt
  }

  /** One try, broken off when the program leaves before it was typed to, or says goodbye. */
  async function* once(life: Life, asked: Turn, prompt: string): AsyncGenerator<Event, Tried> {
    const over = new AbortController()
    const stop = new AbortController()
    const there = life.lives
    let typed = asked.sent !== undefined
    let left: Ending | undefined
    const watching = life.end(over.signal).then((ending) => {
      if (!ending || (ending.type === 'exit' && (typed || !there))) return
      left = ending
      stop.abort()
    })
    const see = (event: Event) => {
      if (event.type === 'thread') {
        care.session = event.key
        supervision.session?.(event.key)
      }
      if (event.type !== 'state' || event.state !== 'busy') return
      typed = true
      care.typedAt = supervision.clock.now()
    }
    try {
      if (asked.sent === undefined) await supervision.sending?.({ id: asked.id, prompt })
      const signal = AbortSignal.any([asked.signal, stop.signal])
      const record = new AttemptRecord(name, asked.clock, supervision)
      const outcome = yield* take(life.agent, { ...asked, signal }, (event) => {
        record.see(event)
        see(event)
      })
      record.end()
      const failure = outcome.ok || left ? undefined : outcome.failure
      return { outcome, record, trouble: { failure, ending: left } }
    } finally {
      over.abort()
      await watching
    }
  }

  return {
    name,
    traits,
    get terminal() {
      return care.now?.agent.terminal
    },
    get over() {
      return care.over
    },
    get blank() {
      return care.blank
    },
    start,
    async *turn(turn) {
      yield { type: 'end', outcome: yield* work(turn) }
    },
    ends: async (signal) => care.now?.end(signal),
    async rests(ms, signal) {
      const life = care.now
      if (!life) return false
      await care.free(life, signal)
      await life.still(ms, signal)
      return !signal.aborted && (await life.look())?.reading.state === 'idle'
    },
    async revive(ending, signal, ask) {
      const plan = care.now && (await care.plan(care.now, { ending, inHand: false, nudges: 0 }))
      await plan?.go(signal)
      if (plan && !signal.aborted) await start(signal, ask)
    },
    close: () => care.leave('close'),
    leave: () => care.leave('leave'),
  }
}

type Trouble = { failure?: Failure; ending?: Ending }

type Tried = { outcome: Outcome; record: AttemptRecord; trouble: Trouble }

async function endingOf(life: Life): Promise<{ ending?: Ending }> {
  const ending = await life.ended()
  return ending ? { ending } : {}
}

const quitFailure = (name: string): Failure => ({ kind: 'aborted', message: `${name} was quit by the person` })
