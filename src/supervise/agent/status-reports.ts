import type { Clock } from '../../base/time/clock.ts'
import { defined } from '../../base/defined.ts'
import type { Usage } from '../../core/talk/entry.ts'
import type { AgentStatus } from '../../hub/model/tasks/agent-status.ts'
import type { Registration } from '../../hub/engine/hub.ts'
import type { RemoteHub } from '../../hub/engine/remote-hub.ts'
import type { SupervisionEvent } from '../supervision.ts'

type StatusReportParts = {
  hub: Pick<RemoteHub, 'report'>
  as: Registration
  clock: Clock
  /** The tokens that the agent's context window takes. */
  window: number
  /** Returns the bytes that are free on the disk where the agent works. */
  free(): number | undefined
}

/** The hub considers an agent gone that it has not heard from for five minutes. */
const paceMs = 120_000

/** Reports the status of a supervised agent to the hub: its machine, until when it is parked, and how much of its context and its disk is free. */
export class StatusReports {
  #parts: StatusReportParts
  #status: AgentStatus

  constructor(parts: StatusReportParts) {
    this.#parts = parts
    this.#status = { machine: parts.as.machine, parkedUntil: 0 }
  }

  /** Takes an event of the supervision in, and reports what it changes. */
  see(event: SupervisionEvent): void {
    const parked = event.type === 'parked' ? { parkedUntil: event.until, parkedWhy: event.why } : { parkedUntil: 0 }
    if (parked.parkedUntil === this.#status.parkedUntil) return
    const { parkedUntil: _until, parkedWhy: _why, ...rest } = this.#status
    this.#status = { ...rest, ...parked }
    this.#send()
  }

  /** Takes in what a turn used. A CLI whose journal does not tell of single requests has no number here. */
  used({ held }: Usage): void {
    if (held === undefined) return
    this.#status = { ...this.#status, contextLeft: Math.max(0, 1 - held / this.#parts.window) }
    this.#send()
  }

  /** Reports the status again and again until the signal aborts, also while the agent is silent in a long task or asks. */
  async keep(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#send()
      await this.#parts.clock.sleep(paceMs, signal)
    }
  }

  /**
   * Sends the whole status. A report that is lost does no harm, because the next one says the same. An agent that the hub does
   * not know registers when it asks for work, and one that the hub has removed must not come back by a report.
   */
  #send(): void {
    const { hub, as, free } = this.#parts
    const bytes = free()
    const status = defined({ ...this.#status, diskFree: bytes === undefined ? undefined : roughly(bytes) })
    // An older hub refuses a report that names the free disk: it gets the report without that.
    hub.report(as.id, status).catch(() => hub.report(as.id, this.#status).catch(() => {}))
  }
}

/** A number of bytes with its first two digits, so that a disk at work is not a new report each time. */
function roughly(bytes: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, bytes))) - 1)
  return Math.floor(bytes / unit) * unit
}
