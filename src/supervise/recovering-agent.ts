import type { Event } from '../core/talk/entry.ts'
import type { Failure, Outcome } from '../core/talk/outcome.ts'
import type { Ask } from '../core/talk/question.ts'
import type { Agent, Turn } from '../core/work/agent.ts'
import type { FailedAttempt } from '../turn/rotation/attempt.ts'
import type { RecoveryParts } from './recovery.ts'
import type { ProgramEnd } from './restart-policy.ts'
import type { SupervisedProgram } from './supervised-program.ts'
import type { OpenCli, SupervisionEnd } from './supervision.ts'
import { failed } from '../core/talk/outcome.ts'
import { take } from '../core/work/verbs.ts'
import { AttemptRecord } from '../turn/rotation/attempt.ts'
import { Recovery } from './recovery.ts'
import { resumePrompt } from './supervisor-prompts.ts'

type Supervision = RecoveryParts & {
  mask(text: string): string
  /** Instructions for a program without a history. */
  opening?: string
  /**
   * Called before a prompt is typed: the id finds the prompt again in the terminal, and `prompt` is the request, however it is worded for
   * this attempt.
   */
  sending?(turn: Pick<Turn, 'id' | 'prompt'>): Promise<void>
  /** Called with the key of the CLI's own session. */
  session?(key: string): void
}

/** An agent that is kept running, with the state that its supervisor needs between turns. */
export interface RecoveringAgent extends Agent {
  /** Why the agent no longer works. */
  readonly over: SupervisionEnd | undefined
  /** Whether the agent has not got any prompt yet. */
  readonly blank: boolean
  start(signal: AbortSignal, ask?: Ask): Promise<Failure | undefined>
  /** Waits until the program exits by itself; undefined if the signal aborts first. */
  ends(signal: AbortSignal): Promise<ProgramEnd | undefined>
  /** Waits until the program has drawn nothing for `ms` and the person does not type; returns whether the program is idle then. */
  rests(ms: number, signal: AbortSignal): Promise<boolean>
  /** Restarts a program that exited by itself, if the policy says so. */
  revive(ending: ProgramEnd, signal: AbortSignal, ask: Ask): Promise<void>
  leave(): Promise<void>
}

/**
 * Keeps one agent running: a crashed program is reopened with its own session and asked to continue, one that is out of quota waits until
 * it has quota again, and one that the person quit is not restarted. `session` is the first session.
 */
export function recoveringAgent(open: OpenCli, supervision: Supervision, session?: string): RecoveringAgent {
  const recovery = new Recovery(open, supervision, session)
  const { name, traits } = recovery.program.agent

  async function start(signal: AbortSignal, ask?: Ask): Promise<Failure | undefined> {
    for (let nudges = 0; ;) {
      if (recovery.over) return quitFailure(name)
      const { program } = recovery
      const failure = await program.agent.start?.(signal, ask)
      if (!failure || signal.aborted) return failure
      const plan = await recovery.plan(program, { failure, inHand: true, nudges })
      if (!plan) return failure
      if (plan.nudges) nudges++
      await plan.go(signal)
    }
  }

  async function* work(turn: Turn): AsyncGenerator<Event, Outcome> {
    // A new turn is a new chance for an agent that was given up.
    if (!endOutcome()) recovery.over = undefined
    let nudges = 0
    let before: FailedAttempt[] | undefined
    while (!turn.signal.aborted) {
      const end = endOutcome()
      if (end) return end
      const { program } = recovery
      await recovery.keyboardFree(program, turn.signal)
      const ending = await program.ended()
      // A program that exited between two turns is recovered first: otherwise its agent would open it again without notice.
      const asked = ending ? undefined : before ? nextTry(turn, program, before) : firstTry(turn, program)
      const tried = asked && (yield* attempt(program, asked, turn.prompt))
      if (tried?.outcome.ok) {
        recovery.succeeded(program)
        return tried.outcome
      }
      const outcome = tried && !tried.outcome.ok ? tried.outcome : failed('crash', `${name} had exited`)
      if (turn.signal.aborted) return outcome
      const inHand = turn.prompt !== supervision.opening
      const plan = await recovery.plan(program, {
        failure: tried?.failure,
        ending: tried ? tried.ending : ending,
        inHand,
        nudges,
      })
      if (!plan) {
        recovery.gaveUp()
        return endOutcome() ?? outcome
      }
      nudges = plan.nudges ? nudges + 1 : 0
      if (tried) {
        const crashed = await tried.record.failed(outcome.failure)
        before = [...(before ?? []), crashed]
        yield crashed
      }
      // A prompt that another process stored and never typed needs no wait: the program is not working on it.
      if (!plan.nudges || asked?.sent === undefined) await plan.go(turn.signal)
    }
    return failed('aborted', 'cancelled')
  }

  /** The outcome for a program that the person quit, or whose supervision was stopped: it is not restarted. */
  function endOutcome(): Outcome | undefined {
    if (recovery.over?.type === 'quit') return { ok: false, failure: quitFailure(name) }
    return recovery.over?.type === 'left' ? failed('aborted', `${name} was stopped`) : undefined
  }

  /** If an earlier process sent the prompt, it is only watched if the program is alive. */
  function firstTry(turn: Turn, { how }: SupervisedProgram): Turn {
    const prompt = withOpening(turn.prompt)
    if (turn.sent === undefined) return { ...turn, prompt }
    if (how === 'there') return turn
    return { ...turn, sent: undefined, id: `${turn.id}-again`, prompt: resumePrompt(prompt, how) }
  }

  function nextTry(turn: Turn, program: SupervisedProgram, before: readonly FailedAttempt[]): Turn {
    const how = program.lives ? 'there' : program.how
    return {
      ...turn,
      sent: undefined,
      // Each attempt has its own marks, so that its answer is not mistaken for another attempt's.
      id: `${turn.id}-${before.length}`,
      prompt: resumePrompt(withOpening(turn.prompt), how),
      // Only a program without a history gets an account of the earlier attempts.
      attempts: how === 'began' ? [...turn.attempts, ...before] : turn.attempts,
    }
  }

  function withOpening(prompt: string): string {
    const { opening = prompt } = supervision
    return recovery.blank && opening !== prompt ? `${opening}\n\n${prompt}` : prompt
  }

  /** Runs one attempt. It is aborted if the program exits before anything was typed, or says goodbye. */
  async function* attempt(program: SupervisedProgram, asked: Turn, prompt: string): AsyncGenerator<Event, Tried> {
    const over = new AbortController()
    const stop = new AbortController()
    const record = new AttemptRecord(name, asked.clock, supervision)
    const lived = program.lives
    let typed = asked.sent !== undefined
    let ending: ProgramEnd | undefined
    const watching = program.end(over.signal).then((end) => {
      if (!end || (end.type === 'exit' && (typed || !lived))) return
      ending = end
      stop.abort()
    })
    const see = (event: Event) => {
      record.see(event)
      if (event.type === 'thread') {
        recovery.session = event.key
        supervision.session?.(event.key)
      }
      if (event.type !== 'state' || event.state !== 'busy') return
      typed = true
      recovery.typedAt = supervision.clock.elapsed()
    }
    try {
      if (asked.sent === undefined) await supervision.sending?.({ id: asked.id, prompt })
      const signal = AbortSignal.any([asked.signal, stop.signal])
      const outcome = yield* take(program.agent, { ...asked, signal }, see)
      record.end()
      return { outcome, record, ending, failure: outcome.ok || ending ? undefined : outcome.failure }
    } finally {
      over.abort()
      await watching
    }
  }

  return {
    name,
    traits,
    get terminal() {
      return recovery.current?.agent.terminal
    },
    get over() {
      return recovery.over
    },
    get blank() {
      return recovery.blank
    },
    start,
    async *turn(turn) {
      yield { type: 'end', outcome: yield* work(turn) }
    },
    ends: async (signal) => recovery.current?.end(signal),
    async rests(ms, signal) {
      const program = recovery.current
      if (!program) return false
      await recovery.keyboardFree(program, signal)
      await program.quietFor(ms, signal)
      return !signal.aborted && (await program.look())?.reading.state === 'idle'
    },
    async revive(ending, signal, ask) {
      const { current } = recovery
      const plan = current && (await recovery.plan(current, { ending, inHand: false, nudges: 0 }))
      await plan?.go(signal)
      if (plan && !signal.aborted) await start(signal, ask)
    },
    close: () => recovery.leave('close'),
    leave: () => recovery.leave('leave'),
  }
}

type Tried = { outcome: Outcome; record: AttemptRecord; failure?: Failure; ending?: ProgramEnd }

const quitFailure = (name: string): Failure => ({ kind: 'aborted', message: `the person quit ${name}` })
