import type { Run } from '../base/process/run.ts'
import type { Event } from '../core/talk/entry.ts'
import type { Clock } from '../base/time/clock.ts'

/**
 * Distinguishes the processes that a CLI runs for itself, such as its MCP servers, from those that one turn started and left running. A
 * turn starts processes by its calls, so processes from before the first call are the CLI's own.
 */
export class TurnProcesses {
  #run: Pick<Run, 'pid' | 'processes'>
  #clock: Clock
  /** When the last two pieces of output arrived: a call may run before the piece that names it arrives. */
  #heardAt: [number, number]
  #calledAfter: number | undefined
  /** The processes at the turn's first event, for systems that do not report when a process started. */
  #known: Promise<ReadonlySet<number>> | undefined

  constructor(run: Pick<Run, 'pid' | 'processes'>, clock: Clock) {
    this.#run = run
    this.#clock = clock
    this.#heardAt = [clock.elapsed(), clock.elapsed()]
  }

  /** Called with each piece of output, before it is read. */
  heard(): void {
    this.#heardAt = [this.#heardAt[1], this.#clock.elapsed()]
  }

  /** Called with each event that was read. */
  see({ type }: Pick<Event, 'type'>): void {
    if (type === 'call') this.#calledAfter ??= this.#heardAt[0]
    this.#known ??= process.platform === 'linux' ? Promise.resolve(new Set()) : this.#pids()
  }

  /** Whether a process that this turn started is still running. */
  async areLeft(): Promise<boolean> {
    const since = this.#calledAfter
    if (since === undefined) return false
    const [known, all] = await Promise.all([this.#known, this.#run.processes()])
    return all.some(({ pid, at = Infinity }) => pid !== this.#run.pid && at >= since && known?.has(pid) !== true)
  }

  async #pids(): Promise<ReadonlySet<number>> {
    return new Set((await this.#run.processes()).map(({ pid }) => pid))
  }
}
