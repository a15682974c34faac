import type { Clock } from '../../base/time/clock.ts'
import type { FullDisk } from '../../core/work/full-disk.ts'
import type { HubLedger } from '../model/hub-ledger.ts'
import { defined } from '../../base/defined.ts'
import { littleDisk } from '../../core/work/full-disk.ts'

/** How often the disk is checked while somebody follows it. */
const lookMs = 30_000
/** The disk counts as having room again only above this many bytes, so that the warning does not flicker with every file. */
const roomBytes = 1.1 * littleDisk

/** Watches the disk of a ledger that is a file. A database server's disk is watched by its operator. */
export class LedgerDisk {
  #ledger: Pick<HubLedger, 'freeBytes'>
  #clock: Clock
  #since: number | undefined

  constructor(ledger: Pick<HubLedger, 'freeBytes'>, clock: Clock) {
    this.#ledger = ledger
    this.#clock = clock
  }

  /** The disk, if it is nearly full now. */
  full(): FullDisk | undefined {
    const free = this.#ledger.freeBytes?.()
    if (free === undefined || free >= (this.#since === undefined ? littleDisk : roomBytes)) {
      this.#since = undefined
      return undefined
    }
    this.#since ??= this.#clock.now()
    return { since: this.#since, free }
  }

  /** Yields when the disk becomes nearly full, and when it has room again, until the signal aborts. */
  async *follow(signal: AbortSignal): AsyncGenerator<{ full?: FullDisk }> {
    let told: FullDisk | undefined
    while (!signal.aborted) {
      const full = this.full()
      if (full?.since !== told?.since) yield defined({ full })
      told = full
      await this.#clock.sleep(lookMs, signal)
    }
  }
}
