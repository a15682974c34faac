import type { HubChange, HubLedger } from '../../core/work/task.ts'

/** So many are read at once for whoever catches up. */
const batch = 500

/** Every change of the hub, as it is kept, to any number of followers. */
export class ChangeFeed {
  #ledger: HubLedger
  #followers = new Set<() => void>()

  constructor(ledger: HubLedger) {
    this.#ledger = ledger
  }

  /** Something was kept: whoever follows looks. */
  notify(): void {
    for (const wake of this.#followers) wake()
  }

  /** Oldest first, after a number, until the signal aborts; undefined in front says that some are missing, and everything is to be read anew. */
  async *after(seq: number, signal: AbortSignal): AsyncGenerator<HubChange | undefined> {
    let rung = Promise.withResolvers<void>()
    const wake = () => rung.resolve()
    this.#followers.add(wake)
    signal.addEventListener('abort', wake, { once: true })
    try {
      for (let last = seq; !signal.aborted;) {
        rung = Promise.withResolvers<void>()
        const more = this.#ledger.since(last, batch)
        if (!more) {
          yield undefined
          return
        }
        for (const change of more) {
          yield change
          last = change.seq
        }
        if (more.length === 0) await rung.promise
      }
    } finally {
      this.#followers.delete(wake)
      signal.removeEventListener('abort', wake)
    }
  }
}

/** As an event stream has it; a reader that comes back names the last id it saw. */
export function eventStreamText(change: HubChange | undefined): string {
  if (!change) return 'event: lost\ndata: {}\n\n'
  return `id: ${change.seq}\nevent: ${change.type}\ndata: ${JSON.stringify(change)}\n\n`
}
