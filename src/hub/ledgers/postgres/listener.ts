import type { Clock } from '../../../base/time/clock.ts'
import type { LedgerNews } from '../../model/hub-ledger.ts'
import type { PostgresAddress } from './address.ts'
import type { Session } from './connections.ts'
import { openSession } from './connections.ts'

/** How often the connection is used, so that a dead connection is noticed and missed announcements are found. */
const beatMs = 400
/** Cached rows are used without a query as long as the connection has answered within this time. */
const freshMs = 1_000
const answerMs = 3_000
/** The longest pause between attempts to connect. */
const mostPauseMs = 2_000

/**
 * The connection on which the database announces changes. It is a session of its own: a connection pooler between the hub and the database
 * would lose the announcements.
 */
export class Listener {
  /** The channel of changes. */
  readonly channel: string
  /** The channel of keys and sign-ins. */
  readonly bookChannel: string
  /** Counts the events that may have made cached keys and sign-ins outdated: a change by any hub, and a time without a connection. */
  generation = 0
  #address: PostgresAddress
  #clock: Clock
  #hub: string
  #told = new Set<(news: LedgerNews) => void>()
  #stop = new AbortController()
  #running: Promise<void> | undefined
  #session: Session | undefined
  /** When the last answered statement was sent, by `Clock.elapsed`. */
  #answered = -Infinity
  #seq = -1

  constructor(address: PostgresAddress, clock: Clock, hub: string) {
    this.#address = address
    this.#clock = clock
    this.#hub = hub
    this.channel = `${address.schema}_changes`
    this.bookChannel = `${address.schema}_books`
  }

  /**
   * Connects; resolves when the database announces changes, or when it could not be reached. In the latter case the listener keeps
   * trying.
   */
  open(): Promise<void> {
    return new Promise((resolve) => {
      this.#running ??= this.#run(resolve)
    })
  }

  listen(told: (news: LedgerNews) => void): () => void {
    // Each call wraps its function, so that one function can listen twice and stop once.
    const listener = (news: LedgerNews) => told(news)
    this.#told.add(listener)
    return () => {
      this.#told.delete(listener)
    }
  }

  /** Announces a round of this hub at once. The database announces the same round later; that announcement is ignored. */
  tell(news: LedgerNews): void {
    this.#seq = Math.max(this.#seq, news.seq)
    // A listener that throws must not fail a round that is already durable.
    for (const told of this.#told) queueMicrotask(() => told(news))
  }

  /** Whether no announcement can have been missed in the last second. */
  get isFresh(): boolean {
    return this.#session !== undefined && this.#clock.elapsed() - this.#answered < freshMs
  }

  async close(): Promise<void> {
    this.#stop.abort()
    this.#session?.drop()
    await this.#running
  }

  async #run(opened: () => void): Promise<void> {
    const { signal } = this.#stop
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        await this.#follow(() => {
          failures = 0
          opened()
        })
      } catch {
        // The loop connects again; a ledger call that fails in the meantime reports the reason.
      }
      opened()
      this.#session = undefined
      this.generation++
      await this.#clock.sleep(Math.random() * Math.min(mostPauseMs, 100 * 2 ** failures), signal)
    }
  }

  /** Listens on one connection until it is lost. */
  async #follow(connected: () => void): Promise<void> {
    const { signal } = this.#stop
    const session = await openSession(this.#address, this.#clock, 'hub, listening')
    try {
      if (signal.aborted) return
      session.onNotice((channel, payload) => this.#hear(channel, payload))
      await session.run(`LISTEN ${this.channel}; LISTEN ${this.bookChannel}`)
      const first = await this.#beat(session)
      this.#session = session
      this.generation++
      // Changes may have been missed while there was no connection.
      if (this.#seq < 0) this.#seq = first
      else this.tell({ seq: first, claimable: true })
      connected()
      for (let behind = -1; !signal.aborted;) {
        await this.#clock.sleep(beatMs, signal)
        const seq = await this.#beat(session)
        // An announcement that was due at the last check and has still not come was missed.
        if (behind > this.#seq) this.tell({ seq, claimable: true })
        behind = seq
      }
    } finally {
      await session.end()
    }
  }

  async #beat(session: Session): Promise<number> {
    const sent = this.#clock.elapsed()
    const { rows } = await session.run(`SELECT seq FROM ${this.#address.schema}.ledger`, [], answerMs)
    this.#answered = sent
    return Number((rows[0] as { seq: string }).seq)
  }

  #hear(channel: string, payload: string): void {
    if (channel === this.bookChannel) {
      this.generation++
      return
    }
    const [seq, claimable, hub] = payload.split(' ')
    if (hub === this.#hub) return
    this.tell({ seq: Number(seq), claimable: claimable === '1' })
  }
}
