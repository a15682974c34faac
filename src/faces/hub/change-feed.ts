import type { HubChange, HubLedger } from '../../core/work/hub-ledger.ts'

/** Changes that are read from the ledger at once for a follower that catches up. */
const batch = 500

/** Every change of the hub, in the order of the ledger, for any number of followers. */
export class ChangeFeed {
  #ledger: HubLedger
  #followers = new Set<() => void>()

  constructor(ledger: HubLedger) {
    this.#ledger = ledger
  }

  /** Tells every follower that the ledger has more. */
  notify(): void {
    for (const wake of this.#followers) wake()
  }

  /**
   * Yields the changes after a number, oldest first, until the signal aborts. A single undefined says that the ledger
   * no longer has all of them, so that the follower has to read everything anew.
   */
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

/** A change in the format of an event stream; a reader that comes back names the last id it saw. */
export function eventStreamText(change: HubChange | undefined): string {
  if (!change) return 'event: lost\ndata: {}\n\n'
  return `id: ${change.seq}\nevent: ${change.type}\ndata: ${JSON.stringify(change)}\n\n`
}
