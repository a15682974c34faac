import type { Clock } from '../../base/time/clock.ts'
import type { Asker } from '../../hub/model/machine-work.ts'
import type { Connection } from './connection.ts'
import type { AnsweringFrame, AskingFrame, FrameData } from './frames.ts'
import type { CallName, ParamsOf, StreamName } from './methods.ts'
import { mostAsked, OutputPiece, readAnswering, windowBytes, WireFailure, encodeFrame } from './frames.ts'

/** `by` is the person in whose name the request is made. Without `withinMs`, the wait for an answer has no limit. */
export type AskOptions = { by?: Asker; machine?: string; signal?: AbortSignal; withinMs?: number }

/** The other end of a connection, which answers. Answers are returned unchecked, as the other side sent them. */
export interface Asking {
  /** Resolves with the answer; rejects with a WireFailure. */
  call<N extends CallName>(method: N, params: ParamsOf<N>, options?: AskOptions): Promise<unknown>
  /** Yields items until the stream or the signal ends; throws a WireFailure if the other side refuses or is gone. */
  stream<N extends StreamName>(method: N, params: ParamsOf<N>, options?: AskOptions): AsyncIterable<unknown>
}

/** One request in progress. `unread` counts the bytes that arrived and were not read yet; `left`: nobody wants the rest. */
type Waiting = {
  items: { item: unknown; bytes: number }[]
  unread: number
  left: boolean
  end?: { result: unknown } | { failure: WireFailure }
  wake(): void
}

/**
 * The asking side of a connection. The other side may send at most one window of each stream before the reader has consumed it, so memory
 * is limited whatever it sends; a side that sends more is cut off.
 */
export class WireAsking implements Asking {
  #connection: Connection
  #clock: Clock
  #waiting = new Map<number, Waiting>()
  #lastId = 0

  constructor(connection: Connection, clock: Clock) {
    this.#connection = connection
    this.#clock = clock
    // Requests that are still waiting when the connection ends fail with its reason.
    void connection.over.then((why) => {
      for (const waiting of this.#waiting.values()) {
        waiting.end ??= { failure: new WireFailure('away', `The connection to the machine ended: ${why}.`) }
        waiting.wake()
      }
    })
    connection.read((data) => this.#take(data))
  }

  /** Resolves with the reason when the connection has closed. */
  get over(): Promise<string> {
    return this.#connection.over
  }

  #take(data: FrameData): void {
    const frame = readAnswering(data)
    if (!frame) return this.#connection.end('a frame came that cannot belong to an answer', true)
    const waiting = this.#waiting.get(frame.id)
    if (!waiting) {
      if (frame.id > this.#lastId) this.#connection.end('an answer came that nobody had asked for', true)
      return
    }
    if (frame.type === 'done') waiting.end = { result: frame.result }
    else if (frame.type === 'failed') waiting.end = { failure: new WireFailure(frame.kind, frame.why) }
    else this.#keep(waiting, frame, data.length)
    if (waiting.end && waiting.left) this.#waiting.delete(frame.id)
    waiting.wake()
  }

  async call<N extends CallName>(method: N, params: ParamsOf<N>, options: AskOptions = {}): Promise<unknown> {
    const { signal, withinMs } = options
    const { id, waiting } = this.#ask(method, params, options)
    if (signal || withinMs !== undefined) await this.#endOrEnough(waiting, options)
    else while (!waiting.end) await this.#news(waiting)
    this.#leave(id, waiting)
    signal?.throwIfAborted()
    if (!waiting.end)
      throw new WireFailure('away', `The machine did not answer within ${Math.round((withinMs ?? 0) / 1000)} s.`)
    if ('failure' in waiting.end) throw waiting.end.failure
    return waiting.end.result
  }

  /** Waits for the end of a request, or until the caller stops waiting. */
  async #endOrEnough(waiting: Waiting, { signal, withinMs }: AskOptions): Promise<void> {
    const enough = new AbortController()
    const stop = () => waiting.wake()
    signal?.addEventListener('abort', stop, { once: true })
    let isLate = false
    if (withinMs !== undefined)
      void this.#clock.sleep(withinMs, enough.signal).then(() => {
        isLate = true
        waiting.wake()
      })
    while (!waiting.end && !isLate && !signal?.aborted) await this.#news(waiting)
    signal?.removeEventListener('abort', stop)
    enough.abort()
  }

  async *stream<N extends StreamName>(
    method: N,
    params: ParamsOf<N>,
    options: AskOptions = {},
  ): AsyncGenerator<unknown> {
    const { signal } = options
    if (signal?.aborted) return
    const { id, waiting } = this.#ask(method, params, options)
    const stop = () => waiting.wake()
    signal?.addEventListener('abort', stop, { once: true })
    let taken = 0
    try {
      while (!signal?.aborted) {
        const next = waiting.items.shift()
        if (next) {
          waiting.unread -= next.bytes
          taken += next.bytes
          yield next.item
          if (taken < windowBytes / 4 || waiting.end) continue
          this.#send({ type: 'more', id, bytes: taken })
          taken = 0
        } else if (waiting.end) {
          if ('failure' in waiting.end) throw waiting.end.failure
          return
        } else await this.#news(waiting)
      }
    } finally {
      signal?.removeEventListener('abort', stop)
      this.#leave(id, waiting)
    }
  }

  #ask(method: string, params: object, { by, machine }: AskOptions): { id: number; waiting: Waiting } {
    if (this.#connection.ended.aborted) throw new WireFailure('away', 'The connection to the machine was closed.')
    if (this.#waiting.size >= mostAsked)
      throw new WireFailure('busy', `${mostAsked} requests wait for this machine already. Try again in a moment.`)
    const id = ++this.#lastId
    const waiting: Waiting = { items: [], unread: 0, left: false, wake() {} }
    const frame = { type: 'ask', id, method, params, by, machine } as AskingFrame
    if (!this.#send(frame)) throw new WireFailure('long', 'The request is too long to be sent to another machine.')
    this.#waiting.set(id, waiting)
    return { id, waiting }
  }

  #send(frame: AskingFrame): boolean {
    const data = encodeFrame(frame)
    if (data !== undefined) this.#connection.send(data)
    return data !== undefined
  }

  /** Queues an item for its reader. The last item of a window may be longer than the rest of the window. */
  #keep(waiting: Waiting, frame: Extract<AnsweringFrame, { type: 'item' | 'output' }>, bytes: number): void {
    if (waiting.unread > windowBytes) return this.#connection.end('more was sent than was asked for', true)
    waiting.unread += bytes
    if (waiting.left) return
    const item = frame.type === 'item' ? frame.item : new OutputPiece(frame.at, frame.bytes)
    waiting.items.push({ item, bytes })
  }

  /** Abandons an answer. Its number stays in use until the other side has finished it too. */
  #leave(id: number, waiting: Waiting): void {
    waiting.items = []
    waiting.left = true
    if (waiting.end) this.#waiting.delete(id)
    else this.#send({ type: 'leave', id })
  }

  #news(waiting: Waiting): Promise<void> {
    return new Promise((resolve) => (waiting.wake = resolve))
  }
}
