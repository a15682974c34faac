import type { Run } from '../base/process/run.ts'
import type { Event } from '../core/talk/entry.ts'
import type { Clock } from '../base/time/clock.ts'

/**
 * Distinguishes the processes that a CLI runs for itself, such as its MCP servers, from those that one turn started and left running. In its
 * first turn a CLI may still start its own, so only processes from after the first call count. In a later turn every new process counts, such
 * as one that a hook started.
 */
export class TurnProcesses {
  #run: Pick<Run, 'pid' | 'processes'>
  #clock: Clock
  /** When the last two pieces of output arrived: a call may run before the piece that names it arrives. */
  #heardAt: [number, number]
  #since: number | undefined
  /** The processes at the beginning of the turn, for systems that do not report when a process started. */
  #known: Promise<ReadonlySet<number>> | undefined

  /** `hasServed`: the CLI has taken a turn before this one. */
  constructor(run: Pick<Run, 'pid' | 'processes'>, clock: Clock, hasServed: boolean) {
    this.#run = run
    this.#clock = clock
    this.#heardAt = [clock.elapsed(), clock.elapsed()]
    if (hasServed) this.#begin(clock.elapsed())
  }

  /** Called with each piece of output, before it is read. */
  heard(): void {
    this.#heardAt = [this.#heardAt[1], this.#clock.elapsed()]
  }

  /** Called with each event that was read. */
  see({ type }: Pick<Event, 'type'>): void {
    if (type === 'call') this.#begin(this.#heardAt[0])
    else this.#known ??= this.#pids()
  }

  /** Whether a process that this turn started is still running. */
  async areLeft(): Promise<boolean> {
    const since = this.#since
    if (since === undefined) return false
    const [known, all] = await Promise.all([this.#known, this.#run.processes()])
    return all.some(({ pid, at = Infinity }) => pid !== this.#run.pid && at >= since && known?.has(pid) !== true)
  }

  #begin(at: number): void {
    this.#since ??= at
    this.#known ??= this.#pids()
  }

  async #pids(): Promise<ReadonlySet<number>> {
    if (process.platform === 'linux') return new Set()
    return new Set((await this.#run.processes()).map(({ pid }) => pid))
  }
}
