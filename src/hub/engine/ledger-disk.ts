import type { Clock } from '../../base/time/clock.ts'
import type { FullDisk } from '../../core/work/full-disk.ts'
import type { HubLedger } from '../model/hub-ledger.ts'
import { defined } from '../../base/defined.ts'
import { littleDisk } from '../../core/work/full-disk.ts'

/** How often followers check the disk. */
const lookMs = 30_000
/** A disk that was nearly full has room again at this many bytes, so that a warning does not come and go with every file. */
const roomBytes = 1.1 * littleDisk

/** Watches the disk of a ledger in a file; its operator watches the disk of any other ledger. */
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
