import type { Socket } from 'node:net'
import type { Clock } from '../../base/clock.ts'
import type { Terminal } from '../../core/screen/terminal.ts'
import type { Event } from '../../core/talk/entry.ts'
import type { TurnAtWork, Peer } from '../../core/talk/peer.ts'
import { connect } from 'node:net'
import { Lines } from '../../base/lines.ts'
import { EventBacklog } from '../../core/talk/event-backlog.ts'
import type { DrawnBytes } from './peer-frames.ts'
import { frameOf, longestFrame, readFrame, version } from './peer-frames.ts'
import { RemoteTerminal } from './remote-terminal.ts'

/** How long a process is waited for that may be stopped, or too busy to answer. */
const patienceMs = 2_000

export type ConnectedPeer = Peer & { readonly pid: number }

/** Connects to the process behind a socket; undefined when none answers in our version. */
export async function connectPeer(path: string, clock: Clock): Promise<ConnectedPeer | undefined> {
  const peer = new PeerOverSocket(connect(path), clock)
  if (await peer.greeted()) return peer
  await peer.close()
  return undefined
}

type Waiting = {
  event?(event: Event): void
  drawn?(drawn: DrawnBytes): void
  /** Called without arguments when the process is gone. */
  done(result?: unknown, error?: string): void
}

class PeerOverSocket implements ConnectedPeer {
  pid = 0
  #socket: Socket
  #clock: Clock
  #waiting = new Map<number, Waiting>()
  #lastId = 0

  constructor(socket: Socket, clock: Clock) {
    this.#socket = socket
    this.#clock = clock
    const lines = new Lines(longestFrame)
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      for (const line of lines.push(chunk)) this.#read(line)
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      for (const { done } of [...this.#waiting.values()]) done()
    })
  }

  /** Whether the process has said hello in our version. */
  async greeted(): Promise<boolean> {
    return (await this.#within((waiting) => this.#waiting.set(helloId, waiting), helloId)) === version
  }

  async turns(): Promise<TurnAtWork[]> {
    const turns = await this.#call('turns', {})
    return Array.isArray(turns) ? (turns as TurnAtWork[]) : []
  }

  async *follow(turn: string, signal: AbortSignal, how?: 'onlyReading'): AsyncGenerator<Event> {
    const backlog = new EventBacklog()
    const id = ++this.#lastId
    const done = () => {
      this.#waiting.delete(id)
      backlog.close()
    }
    this.#waiting.set(id, { event: (event) => backlog.add(event), done })
    if (!this.#send(id, 'follow', { turn, how })) done()
    try {
      yield* backlog.read(signal)
    } finally {
      if (this.#waiting.delete(id)) this.#send(id, 'leave')
    }
  }

  async answer(turn: string, ask: string, picks?: string[]): Promise<boolean> {
    return (await this.#call('answer', { turn, ask, picks })) === true
  }

  async steer(turn: string, text: string): Promise<boolean> {
    return (await this.#call('steer', { turn, text })) === true
  }

  async cancel(turn: string): Promise<boolean> {
    return (await this.#call('cancel', { turn })) === true
  }

  async terminal(id: string): Promise<Terminal | undefined> {
    const found = (await this.#call('terminal', { id })) as { attach?: string } | null | undefined
    if (!found) return undefined
    const line = {
      ask: (method: string, params: Record<string, unknown>) => this.#ask(method, params),
      drawn: (params: Record<string, unknown>, see: (drawn: DrawnBytes) => void) => this.#drawn(params, see),
    }
    return new RemoteTerminal(line, id, found.attach)
  }

  async close(): Promise<void> {
    this.#socket.destroy()
  }

  /** Waits for an answer as long as it takes; rejects with the error of the process, or when it is gone. */
  #ask(method: string, params: Record<string, unknown>): Promise<unknown> {
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      const done = (result?: unknown, error = 'the process of this terminal is gone') => {
        this.#waiting.delete(id)
        if (result === undefined) reject(new Error(error))
        else resolve(result)
      }
      this.#waiting.set(id, { done })
      if (!this.#send(id, method, params)) done()
    })
  }

  #drawn(params: Record<string, unknown>, see: (drawn: DrawnBytes) => void): { over: Promise<void>; leave(): void } {
    const id = ++this.#lastId
    const over = new Promise<void>((resolve) => {
      const done = () => {
        this.#waiting.delete(id)
        resolve()
      }
      this.#waiting.set(id, { drawn: see, done })
      if (!this.#send(id, 'terminal.output', params)) done()
    })
    return {
      over,
      leave: () => {
        if (this.#waiting.delete(id)) this.#send(id, 'leave')
      },
    }
  }

  /** Waits for an answer for a short time; undefined when there was none, or an error. */
  #call(method: string, params: Record<string, unknown>): Promise<unknown> {
    const id = ++this.#lastId
    return this.#within((waiting) => {
      this.#waiting.set(id, waiting)
      if (!this.#send(id, method, params)) waiting.done()
    }, id)
  }

  async #within(begin: (waiting: Waiting) => void, id: number): Promise<unknown> {
    const settled = new AbortController()
    const answer = new Promise<unknown>((done) => begin({ done }))
    const late = this.#clock.sleep(patienceMs, settled.signal)
    try {
      return await Promise.race([answer, late])
    } finally {
      this.#waiting.delete(id)
      settled.abort()
    }
  }

  /** Whether the request was sent: one that is too long for a frame is not. */
  #send(id: number, method: string, params?: Record<string, unknown>): boolean {
    const frame = frameOf({ id, method, params })
    if (frame === undefined || this.#socket.destroyed) return false
    this.#socket.write(frame)
    return true
  }

  #read(line: string): void {
    const frame = readFrame(line) ?? {}
    if (frame.termaite === 'peer') {
      this.pid = Number(frame.pid)
      this.#waiting.get(helloId)?.done(frame.version)
    }
    const waiting = this.#waiting.get(Number(frame.id))
    if (waiting === undefined) return
    if ('event' in frame) {
      if (isEvent(frame.event)) waiting.event?.(frame.event)
    } else if ('drawn' in frame) waiting.drawn?.(frame.drawn as DrawnBytes)
    else waiting.done(frame.done, typeof frame.error === 'string' ? frame.error : undefined)
  }
}

/** The id under which the hello is waited for: it answers no request. */
const helloId = 0

function isEvent(value: unknown): value is Event {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}
