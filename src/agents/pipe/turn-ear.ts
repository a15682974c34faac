import type { Exit } from '../../base/process/run.ts'
import type { Event } from '../../core/talk/entry.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Ended, Profile } from '../../core/profile/profile.ts'
import type { Failure } from '../../core/talk/outcome.ts'
import type { PipeEar, PipeRun } from './pipe-run.ts'
import type { PictureText, Speech } from './speech.ts'
import type { TurnWatch } from '../turn-watch.ts'
import { Lines } from '../../base/text/lines.ts'
import { Tail } from '../process-failure.ts'
import { TurnProcesses } from '../turn-processes.ts'

/** A line of stderr longer than this cannot be a message about a retry. */
const longestComplaint = 64 * 1024

/** How long a CLI has to exit after its last message. */
const leaveMs = 5_000

type EarParts = {
  clock: Clock
  watch: TurnWatch
  profile: Profile | undefined
  /** Whether the process may serve another turn, and whether it waited for this one. */
  stays: boolean
  waited: boolean
}

/** Follows one turn of a process: from the prompt to the last message of the CLI, or to the end of the process. */
export class TurnEar implements PipeEar {
  /** Aborts when nothing more is expected from the CLI. */
  readonly over = new AbortController()
  #parts: EarParts
  #process: PipeRun | undefined
  #speech: Speech | undefined
  #stop: ((failure: Failure) => void) | undefined
  #own: TurnProcesses | undefined
  #out = new Tail()
  #err = new Tail()
  #complaints = new Lines(longestComplaint)
  #hasHeard = false
  #done = Promise.withResolvers<Exit | 'over' | 'unsent'>()
  #lingering: Promise<boolean> | undefined

  constructor(parts: EarParts) {
    this.#parts = parts
    // If a turn fails before it listens, nothing waits for this promise.
    this.#done.promise.catch(() => {})
  }

  /**
   * Sends the prompt, and follows the turn. 'unsent': the process that waited was gone before it received the whole prompt, and printed
   * nothing.
   */
  async listen(
    process: PipeRun,
    speech: Speech,
    prompt: PictureText,
    stop: (failure: Failure) => void,
  ): Promise<Ended | 'unsent'> {
    this.#process = process
    this.#speech = speech
    this.#stop = stop
    const { clock, stays: mayStay } = this.#parts
    if (mayStay) this.#own = new TurnProcesses(process.run, clock, process.hasServed)
    const { text, stays } = speech.open(prompt)
    const { stdin } = process.run
    const sent = new Promise<boolean>((resolve) => {
      if (stays) stdin.write(text, (error) => resolve(!error))
      else stdin.end(text, () => resolve(true))
    })
    void sent.then((isSent) => {
      if (!isSent && this.#parts.waited && !this.#hasHeard) this.#done.resolve('unsent')
    })
    let how = await this.#done.promise
    if (how === 'unsent') return how
    if (how === 'over') {
      if (speech.lasting() && !(await this.#own?.areLeft())) return this.#ended({ code: 0, lives: true })
      // The CLI exits, with or without its daemons, as after a turn with its own process.
      this.#done = Promise.withResolvers()
      stdin.end()
      this.#lingering = this.#endLingering(process)
      how = process.isAlive ? await this.#done.promise : await process.gone
    }
    // A CLI that we stopped after its last message did not fail.
    const exit = (await this.#lingering) ? { code: 0 } : (how as Exit)
    if (this.#parts.waited && !this.#hasHeard && !(await sent)) return 'unsent'
    return this.#ended(exit)
  }

  /** Called with each event of the turn. */
  see(event: Event): void {
    this.#own?.see(event)
  }

  heard(): void {
    this.#hasHeard = true
    this.#own?.heard()
    this.#parts.watch.heard()
  }

  async out(text: string): Promise<void> {
    this.#out.add(text)
    await this.#speech?.hear(text)
    if (!this.#speech?.over()) return
    if (this.#parts.stays) this.#done.resolve('over')
    else if (this.#process) this.#lingering ??= this.#endLingering(this.#process)
  }

  async err(text: string): Promise<void> {
    this.#err.add(text)
    const { profile, clock } = this.#parts
    for (const line of this.#complaints.push(text)) {
      const failure = profile?.retrying?.(line, clock.now())
      if (failure) this.#stop?.(failure)
    }
  }

  exited(): void {
    this.over.abort()
  }

  ended(exit: Exit): void {
    this.#done.resolve(exit)
  }

  failed(error: unknown): void {
    this.#done.reject(error)
  }

  #ended(how: Pick<Ended, 'code' | 'signal' | 'lives'>): Ended {
    return { out: this.#out.text, err: this.#err.text, ...how, now: this.#parts.clock.now() }
  }

  /** Ends a process that keeps running after its last message; false if it exited by itself. */
  async #endLingering({ run }: PipeRun): Promise<boolean> {
    await this.#parts.clock.sleep(leaveMs, this.over.signal)
    if (this.over.signal.aborted) return false
    // The answer is complete, so silence and time are no longer watched.
    this.over.abort()
    await run.end()
    return true
  }
}
