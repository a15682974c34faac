import type { Asker } from '../../hub/model/machine-work.ts'
import type { Connection } from './connection.ts'
import type { AnsweringFrame, AskingFrame, FrameData } from './frames.ts'
import { messageOf } from '../../base/error-message.ts'
import { mostBuffered } from './connection.ts'
import { failureKindOf, mostAsked, OutputPiece, readAsking, windowBytes, WireFailure, encodeFrame } from './frames.ts'

/** The largest piece of output in one frame, so that the streams of a connection take turns. */
const largestPiece = 16 * 1024

/** `signal` aborts when the answer is no longer wanted, or the connection is closed. */
export type AnswerContext = { by: Asker; machine?: string; signal: AbortSignal }

/** The methods that one side of a connection answers. A stream yields JSON or OutputPieces. */
export interface Answers {
  /** Undefined if there is no such method. */
  answer(
    method: string,
    params: Record<string, unknown>,
    context: AnswerContext,
  ): Promise<unknown> | AsyncIterable<unknown> | undefined
  /** The names of the methods, for the message that refuses others. */
  methods(): readonly string[]
  /** Shorter forms of an item that is too long for a frame, the longest first. Without one, the stream fails. */
  shorter?(item: unknown): Iterable<unknown>
}

/** One request that is being answered; `room` is how many bytes its reader can still receive. */
class Running {
  room = windowBytes
  isLeft = false
  done = Promise.resolve()
  #over: AbortController | undefined

  wake = () => {}

  /** The signal is created on first use, because most requests are answered at once. */
  get signal(): AbortSignal {
    this.#over ??= new AbortController()
    if (this.isLeft) this.#over.abort('left')
    return this.#over.signal
  }

  stop(): void {
    this.isLeft = true
    this.#over?.abort('left')
    this.wake()
  }
}

/** The context of a request, whose signal is made on first use. */
class RunningContext implements AnswerContext {
  readonly by: Asker
  readonly machine?: string
  #running: Running

  constructor(by: Asker, machine: string | undefined, running: Running) {
    this.by = by
    if (machine !== undefined) this.machine = machine
    this.#running = running
  }

  get signal(): AbortSignal {
    return this.#running.signal
  }
}

/** The answering side of a connection: it handles the other side's requests, many at once, each stream within its window. */
export class WireAnswering {
  #connection: Connection
  #answers: Answers
  #own: Asker | undefined
  #running = new Map<number, Running>()

  /** `own` is the asker if a request names nobody; without it, each request has to name a person. */
  constructor(connection: Connection, answers: Answers, own?: Asker) {
    this.#connection = connection
    this.#answers = answers
    this.#own = own
    void connection.over.then(() => {
      for (const running of this.#running.values()) running.stop()
    })
    connection.read((data) => this.#take(data))
  }

  /** Resolves when every request so far has had its last frame. */
  async settled(): Promise<void> {
    await Promise.all([...this.#running.values()].map(({ done }) => done))
  }

  #take(data: FrameData): void {
    const frame = readAsking(data)
    if (!frame) return this.#connection.end('a frame came that cannot belong to a request', true)
    const running = this.#running.get(frame.id)
    if (frame.type === 'ask') {
      const by = frame.by ?? this.#own
      if (!by) this.#connection.end('a frame came that cannot belong to a request', true)
      else if (running) this.#connection.end('the number of a request was used twice', true)
      else if (this.#running.size >= mostAsked)
        this.#fail(frame.id, new WireFailure('busy', 'This machine answers too many requests already.'))
      else this.#begin(frame, by)
    } else if (running && frame.type === 'leave') running.stop()
    else if (running && frame.type === 'more') {
      // A reader gains nothing by claiming that it has received more than it was sent.
      running.room = Math.min(windowBytes, running.room + frame.bytes)
      running.wake()
    }
  }

  #begin(frame: Extract<AskingFrame, { type: 'ask' }>, by: Asker): void {
    const running = new Running()
    this.#running.set(frame.id, running)
    running.done = this.#answer(frame, by, running)
  }

  async #answer(
    { id, method, params, machine }: Extract<AskingFrame, { type: 'ask' }>,
    by: Asker,
    running: Running,
  ): Promise<void> {
    try {
      const answer = this.#answers.answer(method, params, new RunningContext(by, machine, running))
      if (answer === undefined)
        throw new WireFailure(
          'missing',
          `There is no request "${method.slice(0, 64)}" here. This version of termaite knows: ${this.#answers.methods().join(', ')}.`,
        )
      const result = Symbol.asyncIterator in answer ? await this.#stream(id, running, answer) : await answer
      const done = encodeFrame({ type: 'done', id, result: result ?? null })
      if (done === undefined) throw new WireFailure('long', 'The answer of the machine is too long to be sent.')
      // A short answer overtakes the streams; long answers wait here, because their number is limited.
      if (done.length > mostBuffered) await this.#connection.sendWithRoom(done, this.#connection.ended)
      else this.#connection.send(done)
      this.#running.delete(id)
    } catch (error) {
      this.#running.delete(id)
      this.#fail(id, error)
    }
  }

  async #stream(id: number, running: Running, items: AsyncIterable<unknown>): Promise<void> {
    for await (const item of items) {
      if (running.isLeft) return
      if (item instanceof OutputPiece)
        for (let from = 0; from < item.bytes.length && !running.isLeft; from += largestPiece)
          await this.#put(running, {
            type: 'output',
            id,
            at: item.at + from,
            bytes: item.bytes.subarray(from, from + largestPiece),
          })
      else await this.#put(running, { type: 'item', id, item })
    }
  }

  /** Sends a part of a stream when its reader and the connection have room for it. */
  async #put(running: Running, frame: Extract<AnsweringFrame, { type: 'item' | 'output' }>): Promise<void> {
    const data = encodeFrame(frame) ?? (frame.type === 'item' ? this.#shorter(frame) : undefined)
    if (data === undefined) throw new WireFailure('long', 'A part of the answer is too long to be sent.')
    while (running.room <= 0 && !running.isLeft) await new Promise<void>((resolve) => (running.wake = resolve))
    running.room -= data.length
    await this.#connection.sendWithRoom(data, running.signal)
  }

  #shorter({ id, item }: Extract<AnsweringFrame, { type: 'item' }>): FrameData | undefined {
    for (const short of this.#answers.shorter?.(item) ?? []) {
      const data = encodeFrame({ type: 'item', id, item: short })
      if (data !== undefined) return data
    }
    return undefined
  }

  #fail(id: number, error: unknown): void {
    this.#connection.send(
      encodeFrame({ type: 'failed', id, kind: failureKindOf(error), why: messageOf(error).slice(0, 2_000) })!,
    )
  }
}
