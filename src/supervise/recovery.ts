import type { Clock } from '../base/time/clock.ts'
import type { Failure } from '../core/talk/outcome.ts'
import type { ProgramEnd, Remedy, RestartPolicy } from './restart-policy.ts'
import type { ReaderFacts } from './supervised-program.ts'
import type { OpenCli, SupervisionEnd, SupervisionEvent } from './supervision.ts'
import { keyboardHeldMs, nudgeDelay, parkedUntil, remedyFor, RestartCounter } from './restart-policy.ts'
import { SupervisedProgram } from './supervised-program.ts'

export type RecoveryParts = RestartPolicy & {
  clock: Clock
  /** How to read the program's screen; missing if it has none. */
  facts?: ReaderFacts
  tell?(event: SupervisionEvent): void
}

type Trouble = { failure?: Failure; ending?: ProgramEnd; inHand: boolean; nudges: number }

/** A remedy that takes time; `nudges`: whether it only asks the program to continue. */
type RecoveryPlan = { go(signal: AbortSignal): Promise<void>; nudges: boolean }

/** The longest pause between two checks of the person's keyboard. */
const keyboardEveryMs = 30_000

/** Keeps one program alive: opens it, stops it before it is reopened, and leaves it alone once its supervision is over. */
export class Recovery {
  /** Why the program no longer works. */
  over: SupervisionEnd | undefined
  /** Whether the program has not got any prompt yet. */
  blank = false
  /** The key of the CLI's own session. */
  session: string | undefined
  /** When termaite last typed something. */
  typedAt = -Infinity
  #open: OpenCli
  #with: RecoveryParts
  #restarts: RestartCounter
  #program: SupervisedProgram | undefined
  #refusals = 0

  constructor(open: OpenCli, parts: RecoveryParts, session: string | undefined) {
    this.#open = open
    this.#with = parts
    this.#restarts = new RestartCounter(parts)
    this.session = session
  }

  /** The running program; it is opened if none runs. */
  get program(): SupervisedProgram {
    if (!this.#program) {
      const { clock, facts = { reader: {} }, tell } = this.#with
      this.#program = new SupervisedProgram(this.#open(this.session), facts, clock)
      const { how } = this.#program
      if (how === 'began') this.blank = true
      tell?.({ type: 'started', how })
    }
    return this.#program
  }

  /** The running program, if there is one. */
  get current(): SupervisedProgram | undefined {
    return this.#program
  }

  /** The program finished its task. */
  succeeded(program: SupervisedProgram): void {
    this.#restarts.reset()
    this.#refusals = 0
    program.hasWorked = true
    this.blank = false
  }

  /** The program failed and gets no further prompt, but it has read its instructions. */
  gaveUp(): void {
    this.blank = false
  }

  /** Ends the supervision permanently; with `leave` the program continues. */
  async leave(how: 'close' | 'leave'): Promise<void> {
    this.over ??= { type: 'left' }
    await this.#end(how)
  }

  async #end(how: 'close' | 'leave' = 'close'): Promise<void> {
    const agent = this.#program?.agent
    this.#program = undefined
    await (how === 'leave' && agent?.leave ? agent.leave() : agent?.close())?.catch(() => {})
  }

  /** Decides what to do; undefined if nothing more is done, and if that is permanent, `over` says why. */
  async plan(
    program: SupervisedProgram,
    { failure, ending: seen, inHand, nudges }: Trouble,
  ): Promise<RecoveryPlan | undefined> {
    // A program that said goodbye was stopped by termaite; otherwise an exit says more than the last screen.
    const ending = seen?.type === 'goodbye' ? seen : ((await program.ended()) ?? seen)
    if (this.over) return undefined
    const state = ending ? undefined : (await program.look())?.reading.state
    const remedy = remedyFor({ failure, ending, state, inHand, hasWorked: program.hasWorked, nudges })
    return this.#planFor(remedy, program)
  }

  #planFor(remedy: Remedy, program: SupervisedProgram): RecoveryPlan | undefined {
    switch (remedy.do) {
      case 'stop':
        return undefined
      case 'quit':
        this.over = { type: 'quit' }
        return undefined
      case 'give-up':
        this.over = { type: 'gave-up', why: remedy.why }
        return undefined
      case 'park':
        return { go: (signal) => this.#park(program, remedy.failure, signal), nudges: false }
      case 'nudge':
        return { go: (signal) => this.#nudge(program, remedy.why, signal), nudges: true }
      case 'restart': {
        const { clock, mostAnHour } = this.#with
        const ms = this.#restarts.next(clock.elapsed(), remedy.counts)
        if (ms !== undefined) return { go: (signal) => this.#restart(remedy, ms, signal), nudges: false }
        this.over = {
          type: 'gave-up',
          why: `the program was restarted ${mostAnHour} times within an hour: ${remedy.why}`,
        }
        return undefined
      }
    }
  }

  async #restart({ why, fresh }: Remedy & { do: 'restart' }, ms: number, signal: AbortSignal): Promise<void> {
    const { tell, clock } = this.#with
    tell?.({ type: 'restarting', why, in: ms })
    // The old program exits before a new one is opened: there are never two.
    await this.#end()
    if (fresh) this.session = undefined
    await clock.sleep(ms, signal)
  }

  /** Waits until the quota is back. The session stays; if the program exits meanwhile, it continues the session afterwards. */
  async #park(program: SupervisedProgram, failure: Failure, signal: AbortSignal): Promise<void> {
    const { clock, tell } = this.#with
    const now = clock.now()
    const until = parkedUntil(failure, now, this.#refusals++)
    tell?.({ type: 'parked', until, why: failure.message })
    const over = clock.elapsed() + until - now
    await program.sleep(over - clock.elapsed(), signal)
    const ending = await program.ended()
    if (!ending) return
    if (remedyFor({ ending, inHand: true, hasWorked: true, nudges: 0 }).do === 'quit') this.over = { type: 'quit' }
    await this.#end()
    if (!this.over) await clock.sleep(over - clock.elapsed(), signal)
  }

  /** Waits until the program may get a prompt to continue; the next prompt is that one. */
  async #nudge(program: SupervisedProgram, why: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const look = await program.look()
      if (!look) return
      const keyboardMs = await this.#keyboardMs(program)
      const delay = nudgeDelay({ state: look.reading.state, quietMs: look.quietMs, keyboardMs })
      if (delay === undefined || delay === 0) break
      await program.sleep(Math.min(delay, keyboardEveryMs), signal)
    }
    if (!signal.aborted) this.#with.tell?.({ type: 'nudged', why })
  }

  /** Waits until the person no longer uses the keyboard. */
  async keyboardFree(program: SupervisedProgram, signal: AbortSignal): Promise<void> {
    for (let ms; (ms = await this.#keyboardMs(program)) > 0 && !signal.aborted;)
      await program.sleep(Math.min(ms, keyboardEveryMs), signal)
  }

  async #keyboardMs(program: SupervisedProgram): Promise<number> {
    const look = await program.look()
    if (!look) return 0
    const { touched, composer } = look
    return keyboardHeldMs({ touched, composer, typedAt: this.typedAt, now: this.#with.clock.elapsed() })
  }
}
