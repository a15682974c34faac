import type { Clock } from '../../base/clock.ts'
import type { Run } from '../../base/process/run.ts'
import type { ToolCall } from '../../core/work/tool.ts'

/** Holds a run to its call: cancelled, or late, it is ended with all it started. */
export class Hold {
  #run: Run
  #signal: AbortSignal
  #why: string | undefined
  #ending: Promise<number[]> | undefined
  #over = new AbortController()
  #timer: Promise<void>
  #stop = () => void this.end('[cancelled]')

  /** `late`: what is said of one that took longer than so many seconds. */
  constructor(
    run: Run,
    seconds: number,
    late: string,
    { signal, until }: Pick<ToolCall, 'signal' | 'until'>,
    clock: Clock,
  ) {
    this.#run = run
    this.#signal = signal
    signal.addEventListener('abort', this.#stop, { once: true })
    if (signal.aborted) this.#stop()
    const ms = Math.min(seconds * 1000, until - clock.now())
    this.#timer = clock.sleep(ms, this.#over.signal).then(() => {
      if (!this.#over.signal.aborted) void this.end(late)
    })
  }

  /** Ends it for a reason; the first one counts. */
  end(why: string): Promise<number[]> {
    this.#why ??= why
    return (this.#ending ??= this.#run.end())
  }

  /** Lets go of it; why it was not let to its own end, if it was not. */
  async release(): Promise<string | undefined> {
    this.#over.abort()
    this.#signal.removeEventListener('abort', this.#stop)
    await this.#timer
    const left = (await this.#ending) ?? []
    const stubborn = left.length > 0 ? ` These processes would not end: ${left.join(', ')}.` : ''
    return this.#why === undefined ? undefined : this.#why + stubborn
  }
}
