import type { Asker } from '../../core/work/machine-work.ts'
import type { AskingFrame, FailureKind } from './link-frames.ts'
import type { LinkSocket } from './link-socket.ts'
import { messageOf } from '../../base/error-message.ts'
import { LinkFailure } from './link-asking.ts'
import { mostAsked, OutputPiece, readAsking, windowBytes, written } from './link-frames.ts'

/** The largest piece of output in one frame, so that the streams of a link take turns. */
const largestPiece = 16 * 1024

/** `signal` aborts when the answer is no longer wanted, or the connection has ended. */
export type AnswerContext = { by: Asker; machine?: string; signal: AbortSignal }

/** The methods that one side of a link answers. A stream yields JSON or OutputPieces. */
export interface Answers {
  /** Undefined where there is no such method. */
  answer(
    method: string,
    params: Record<string, unknown>,
    context: AnswerContext,
  ): Promise<unknown> | AsyncIterable<unknown> | undefined
  /** The methods, for the words that refuse others. */
  methods(): readonly string[]
}

/** One request that is being answered; `room` are the bytes that its reader can still take. */
type Running = { over: AbortController; room: number; wake(): void }

/** The answering side of a link: it carries out what the other side asks for, many requests at once, each stream within its window. */
export class LinkAnswering {
  #socket: LinkSocket
  #answers: Answers
  #running = new Map<number, Running>()

  constructor(socket: LinkSocket, answers: Answers) {
    this.#socket = socket
    this.#answers = answers
    void socket.over.then(() => {
      for (const running of this.#running.values()) this.#stop(running)
    })
  }

  /** How many requests are being answered. */
  get open(): number {
    return this.#running.size
  }

  /** Takes a frame of the other side. */
  take(data: string | Uint8Array): void {
    const frame = readAsking(data)
    if (!frame) return this.#socket.end('a frame came that no request can have', true)
    const running = this.#running.get(frame.id)
    if (frame.type === 'ask') {
      if (running) this.#socket.end('the number of a request was used twice', true)
      else if (this.#running.size >= mostAsked)
        this.#fail(frame.id, 'busy', 'This machine answers too many requests already.')
      else void this.#answer(frame)
    } else if (running && frame.type === 'leave') this.#stop(running)
    else if (running && frame.type === 'more') {
      // A reader that says it took more than it was sent gains nothing.
      running.room = Math.min(windowBytes, running.room + frame.bytes)
      running.wake()
    }
  }

  #stop(running: Running): void {
    running.over.abort('left')
    running.wake()
  }

  async #answer({ id, method, params, by, machine }: Extract<AskingFrame, { type: 'ask' }>): Promise<void> {
    const running: Running = { over: new AbortController(), room: windowBytes, wake() {} }
    this.#running.set(id, running)
    const { signal } = running.over
    try {
      const context = machine === undefined ? { by, signal } : { by, machine, signal }
      const answer = this.#answers.answer(method, params, context)
      if (answer === undefined)
        throw new LinkFailure(
          'missing',
          `There is no request "${method.slice(0, 64)}" here. This version of termaite knows: ${this.#answers.methods().join(', ')}.`,
        )
      const result = Symbol.asyncIterator in answer ? await this.#stream(id, running, answer) : await answer
      this.#running.delete(id)
      const done = written({ type: 'done', id, result: result ?? null })
      if (done === undefined) this.#fail(id, 'long', 'The answer of the machine is too long to be sent.')
      else this.#socket.send(done)
    } catch (error) {
      this.#running.delete(id)
      this.#fail(id, error instanceof LinkFailure ? error.kind : kindOf(error), messageOf(error))
    }
  }

  async #stream(id: number, running: Running, items: AsyncIterable<unknown>): Promise<void> {
    const { signal } = running.over
    for await (const item of items) {
      if (signal.aborted) return
      if (item instanceof OutputPiece)
        for (let from = 0; from < item.bytes.length && !signal.aborted; from += largestPiece)
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
  async #put(running: Running, frame: Parameters<typeof written>[0]): Promise<void> {
    const data = written(frame)
    if (data === undefined) throw new LinkFailure('long', 'A part of the answer is too long to be sent.')
    const { signal } = running.over
    while (running.room <= 0 && !signal.aborted) await new Promise<void>((resolve) => (running.wake = resolve))
    await this.#socket.room()
    if (signal.aborted) return
    running.room -= data.length
    this.#socket.send(data)
  }

  #fail(id: number, kind: FailureKind, why: string): void {
    this.#socket.send(written({ type: 'failed', id, kind, why: why.slice(0, 2_000) })!)
  }
}

/** An error that says by itself why a request was refused, such as a HubError. */
function kindOf(error: unknown): FailureKind {
  const { kind } = (error ?? {}) as { kind?: unknown }
  const known = ['missing', 'conflict', 'wrong', 'long', 'forbidden'] as const
  return known.find((each) => each === kind) ?? 'failed'
}
