import type { Run } from '../base/process/run.ts'
import type { Event } from '../core/talk/entry.ts'
import type { Clock } from '../base/time/clock.ts'

/**
 * Tells the processes that a CLI keeps for itself, such as its MCP servers, from those that one turn started and left running. A turn starts
 * processes by its calls, so what was there before the first call is the CLI's own.
 */
export class TurnProcesses {
  #run: Pick<Run, 'pid' | 'processes'>
  #clock: Clock
  /** When the last two pieces of output came: a call may be carried out before the piece that names it arrives. */
  #heardAt: [number, number]
  #calledAfter: number | undefined
  /** The processes at the turn's first event, for a system that does not tell when a process was started. */
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

  /** Whether a process still runs that this turn started. */
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
