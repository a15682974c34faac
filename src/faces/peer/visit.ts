import type { Socket } from 'node:net'
import type { Peer } from '../../core/talk/peer.ts'
import { Lines } from '../../base/lines.ts'
import { drain } from '../../base/relay.ts'
import { Calls } from './call.ts'
import { frameOf, longestFrame, readFrame, version } from './frame.ts'
import type { Frames } from './streams.ts'
import { streamOf } from './streams.ts'

/** One process that came to see ours, until it goes. Whatever it sends harms nobody but itself. */
export class Visit {
  /** Resolves when it is gone; never rejects. */
  readonly over: Promise<void>
  #socket: Socket
  #peer: Peer
  #calls: Calls
  #streams = new Map<number, { leave: AbortController; done: Promise<void> }>()
  #room: Promise<void> | undefined

  constructor(socket: Socket, peer: Peer) {
    this.#socket = socket
    this.#peer = peer
    this.#calls = new Calls(peer)
    this.over = this.#receive()
  }

  /** Says goodbye once the streams that are ending have said their last. */
  async end(): Promise<void> {
    await Promise.all([...this.#streams.values()].map(({ done }) => done))
    this.#socket.end()
  }

  /** One that does not read would hold what was written to it, and us with it. */
  cut(): void {
    this.#socket.destroy()
  }

  async #receive(): Promise<void> {
    const lines = new Lines(longestFrame)
    try {
      await this.#write(frameOf({ termaite: 'peer', version, pid: process.pid }))
      // Read no faster than it takes its answers: what it has sent waits on its own side.
      for await (const chunk of this.#socket.setEncoding('utf8'))
        for (const line of lines.push(String(chunk))) await this.#serve(line)
    } catch {
      // It went without a word.
    } finally {
      for (const { leave } of this.#streams.values()) leave.abort()
      this.#socket.destroy()
    }
  }

  async #serve(line: string): Promise<void> {
    const { id, method, params } = readFrame(line) ?? {}
    if (typeof id !== 'number') return
    const given = (typeof params === 'object' && params !== null ? params : {}) as Record<string, unknown>
    const stream = streamOf(method)
    if (method === 'leave') this.#streams.get(id)?.leave.abort()
    else if (stream && !this.#streams.has(id)) this.#stream(id, stream(this.#peer, given))
    else await this.#write(frameOf({ id, ...(await this.#calls.answer(method, given)) }) ?? frameOf(tooLong(id)))
  }

  #stream(id: number, frames: Frames): void {
    const leave = new AbortController()
    const run = async () => {
      const done = (await drain(frames(id, leave.signal), (frame) => this.#write(frame))) ?? null
      this.#streams.delete(id)
      await this.#write(frameOf({ id, done }))
    }
    this.#streams.set(id, { leave, done: run() })
  }

  /** Waits until the other side has room again, or is gone. */
  async #write(frame: string | undefined): Promise<void> {
    const socket = this.#socket
    if (frame === undefined || !socket.writable || socket.write(frame)) return
    this.#room ??= new Promise<void>((resolve) => {
      const done = () => {
        this.#room = undefined
        socket.off('drain', done).off('close', done)
        resolve()
      }
      socket.once('drain', done).once('close', done)
    })
    await this.#room
  }
}

const tooLong = (id: number) => ({ id, error: 'the answer is too long to be sent' })
