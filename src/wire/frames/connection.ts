import type { Clock } from '../../base/time/clock.ts'
import type { FrameData } from './frames.ts'
import { within } from '../../base/time/clock.ts'

/**
 * How often each side sends a sign of life, and how long it may be silent before the connection counts as half open, for example after a
 * cut cable.
 */
const beatMs = 10_000
const silentMs = 25_000
/** Streams wait while this much has not left the process, so that a short answer never waits behind a flood. */
export const mostBuffered = 64 * 1024
/** If this much data is unread, the other side is not reading at all. */
const mostUnread = 16 * 1024 * 1024
/** How long the other side may take to close a connection that this side has finished. */
const graceMs = 1_000

type CarrierEvents = {
  take(data: FrameData): void
  /** There was a sign of life. */
  heard(): void
  /** Fewer bytes wait to be sent than before. */
  sent(): void
  /** The connection cannot continue. */
  fail(why: string): void
  /** The connection has closed. */
  over(why: string): void
}

/** Carries whole frames between two programs: a Unix socket or a WebSocket. */
export interface Carrier {
  begin(on: CarrierEvents): void
  /** Bytes that have not left this process. */
  readonly buffered: number
  send(data: FrameData): void
  /** Closes when everything was sent; `isBroken`: the other side broke the rules. */
  close(why: string, isBroken: boolean): void
  destroy(): void
  /** Asks for a sign of life; left out if the system itself reports that the other side is gone. */
  ping?(): void
}

/** One connection: it ends if the other side is silent for too long, and says when there is room to write. */
export class Connection {
  /** Resolves with the reason, as text, when the connection has closed; never rejects. */
  readonly over: Promise<string>
  #carrier: Carrier
  #clock: Clock
  #heard: number
  #ended = new AbortController()
  #closed = new AbortController()
  #why = ''
  #waiting: (() => void)[] = []
  #take: ((data: FrameData) => void) | undefined
  /** Frames that arrived before a reader was attached, and the error message for a side that must not send any yet. */
  #early: FrameData[] = []
  #isGreeted = false
  #came = () => {}
  #tooEarly: string | undefined

  constructor(carrier: Carrier, clock: Clock) {
    this.#carrier = carrier
    this.#clock = clock
    this.#heard = clock.elapsed()
    this.over = new Promise((resolve) => {
      carrier.begin({
        take: (data) => this.#arrive(data),
        heard: () => (this.#heard = clock.elapsed()),
        sent: () => this.#wake(),
        fail: (why) => this.cut(why),
        over: (why) => {
          this.#ended.abort('over')
          this.#closed.abort('over')
          this.#wake()
          resolve(this.#why || why)
        },
      })
    })
    if (carrier.ping) void this.#beat(() => carrier.ping!())
  }

  /** Aborts when the connection is closed or being closed. */
  get ended(): AbortSignal {
    return this.#ended.signal
  }

  /**
   * Waits for the greeting of the other side; undefined if none arrives in time. Later frames wait for `read`; if the other side must not
   * send any before this one has answered, `tooEarly` is the reason with which the connection is closed.
   */
  async first(withinMs: number, tooEarly?: string): Promise<FrameData | undefined> {
    this.#tooEarly = tooEarly
    if (tooEarly !== undefined && this.#early.length > 1) this.end(tooEarly, true)
    const came = new Promise<void>((resolve) => (this.#came = resolve))
    if (this.#early.length === 0) await within(this.#clock, Promise.race([came, this.over]), withinMs)
    return this.#early.shift()
  }

  /** Passes on every frame, beginning with those that have already arrived. */
  read(take: (data: FrameData) => void): void {
    this.#take = take
    for (const data of this.#early.splice(0)) this.#arrive(data)
  }

  send(data: FrameData): void {
    if (this.#ended.signal.aborted) return
    if (this.#carrier.buffered > mostUnread) this.cut('the other side does not read what it is sent')
    else this.#carrier.send(data)
  }

  /** Sends a frame once little is waiting to be sent, unless nobody wants it by then. Waiting frames go one after another. */
  async sendWithRoom(data: FrameData, left: AbortSignal): Promise<void> {
    while (!this.#ended.signal.aborted && this.#carrier.buffered > mostBuffered)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    if (!left.aborted) this.send(data)
  }

  /** Closes the connection with a reason for the other side, which still gets everything sent before. */
  end(why: string, isBroken = false): void {
    this.#why ||= why
    this.#ended.abort('over')
    this.#carrier.close(why, isBroken)
    void this.#clock.sleep(graceMs, this.#closed.signal).then(() => this.#carrier.destroy())
  }

  /** Destroys a connection whose other side broke the rules or does not answer. */
  cut(why: string): void {
    this.#why ||= why
    this.#ended.abort('over')
    this.#carrier.destroy()
  }

  #arrive(data: FrameData): void {
    if (this.#ended.signal.aborted) return
    if (this.#take) return this.#take(data)
    if (this.#isGreeted && this.#tooEarly !== undefined) return this.end(this.#tooEarly, true)
    this.#isGreeted = true
    this.#early.push(data)
    this.#came()
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake()
  }

  async #beat(ping: () => void): Promise<void> {
    const { signal } = this.#ended
    for (;;) {
      await this.#clock.sleep(beatMs, signal)
      if (signal.aborted) return
      if (this.#clock.elapsed() - this.#heard > silentMs) return this.cut('nothing was heard for 25 s')
      ping()
    }
  }
}
