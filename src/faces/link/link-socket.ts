import type { RawData, WebSocket } from 'ws'
import type { Clock } from '../../base/clock.ts'

/** How often each side tells the other that it lives, and how long it may be silent: then the connection is half open, as after a cut cable. */
const beatMs = 10_000
const silentMs = 25_000
/** Streams wait while this much has not left the process, so that a short answer never waits behind a flood. */
const mostBuffered = 64 * 1024
/** How long the other side may take to close a connection that was ended. */
const graceMs = 1_000
/** The code of a connection that is closed because the other side broke the rules; the reason is in the frame. */
const brokenCode = 4400
const endedCode = 4000

/** One connection of a link: it is heard regularly or ends, and says when there is room to write. */
export class LinkSocket {
  /** Resolves with the reason, in words, when the connection has ended; never rejects. */
  readonly over: Promise<string>
  #socket: WebSocket
  #clock: Clock
  #heard: number
  #ended = new AbortController()
  #why = ''
  #waiting: (() => void)[] = []

  constructor(socket: WebSocket, clock: Clock) {
    this.#socket = socket
    this.#clock = clock
    this.#heard = clock.elapsed()
    const heard = () => (this.#heard = clock.elapsed())
    socket.on('ping', heard).on('pong', heard).on('message', heard)
    socket.on('error', (error) => this.cut(error.message))
    this.over = new Promise((resolve) => {
      socket.once('close', (code, reason) => {
        this.#ended.abort('over')
        this.#wake()
        const said = reason.toString('utf8')
        resolve(this.#why || said || (code === 1006 ? 'the connection broke' : `the connection was closed (${code})`))
      })
    })
    void this.#beat()
  }

  /** Aborts when the connection has ended. */
  get ended(): AbortSignal {
    return this.#ended.signal
  }

  /** Hands on every message; binary ones as bytes. */
  read(take: (data: string | Uint8Array) => void): void {
    this.#socket.on('message', (data: RawData, isBinary: boolean) => {
      if (this.#ended.signal.aborted) return
      take(isBinary ? (data as Buffer) : (data as Buffer).toString('utf8'))
    })
  }

  send(data: string | Uint8Array): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(data, () => this.#wake())
  }

  /** Resolves when little waits to be sent, or the connection has ended. Those who wait go on one after another. */
  async room(): Promise<void> {
    while (!this.#ended.signal.aborted && this.#socket.bufferedAmount > mostBuffered)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  /** Ends the connection with words for the other side. */
  end(why: string, isBroken = false): void {
    this.#why ||= why
    this.#ended.abort('over')
    // A close frame has room for 123 bytes.
    const reason = Buffer.from(why).subarray(0, 120).toString('utf8').replaceAll('\ufffd', '')
    this.#socket.close(isBroken ? brokenCode : endedCode, reason)
    void this.#clock.sleep(graceMs).then(() => this.#socket.terminate())
  }

  /** Ends a connection whose other side broke the rules or does not answer. */
  cut(why: string): void {
    this.#why ||= why
    this.#ended.abort('over')
    this.#socket.terminate()
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake()
  }

  async #beat(): Promise<void> {
    const { signal } = this.#ended
    for (;;) {
      await this.#clock.sleep(beatMs, signal)
      if (signal.aborted) return
      if (this.#clock.elapsed() - this.#heard > silentMs) return this.cut('nothing was heard for 25 s')
      if (this.#socket.readyState === this.#socket.OPEN) this.#socket.ping(() => {})
    }
  }
}
