import type { Server, Socket } from 'node:net'
import type { Clock } from '../../base/clock.ts'
import type { Peer } from '../../core/talk/peer.ts'
import type { Frames } from './peer-methods.ts'
import { once } from 'node:events'
import { chmodSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { ownSocketName, ensurePrivateFolder, removeSocket, socketFolders } from './peer-sockets.ts'
import { Lines } from '../../base/lines.ts'
import { drain } from '../../base/relay.ts'
import { PeerMethods, streamOf } from './peer-methods.ts'
import { frameOf, longestFrame, readFrame, version } from './peer-frames.ts'

export type ServedPeer = { path: string; close(): Promise<void> }

/** How long whoever follows may take to read the last of it. */
const graceMs = 250

/**
 * Serves a Peer to the other processes of the same person, without keeping this one alive.
 * Undefined where no socket can be had that is ours alone.
 */
export async function servePeer(peer: Peer, home: string, clock: Clock): Promise<ServedPeer | undefined> {
  const visits = new Set<PeerConnection>()
  const server = createServer((socket) => {
    const visit = new PeerConnection(
      socket.unref().on('error', () => {}),
      peer,
    )
    visits.add(visit)
    void visit.over.then(() => visits.delete(visit))
  }).unref()
  const path = await listenBelow(home, server)
  if (path === undefined) return undefined
  return {
    path,
    async close() {
      server.close()
      removeSocket(path)
      const gone = new AbortController()
      for (const visit of visits) void visit.end()
      void Promise.all([...visits].map(({ over }) => over)).then(() => gone.abort())
      await clock.sleep(graceMs, gone.signal)
      for (const visit of visits) visit.cut()
    },
  }
}

async function listenBelow(home: string, server: Server): Promise<string | undefined> {
  const folders = socketFolders(home)
  // Twice: another process may take its empty folder away just before we listen in it.
  for (const folder of [...folders, ...folders]) {
    const path = join(folder, ownSocketName())
    if (ensurePrivateFolder(folder) && (await listen(server, path))) return path
  }
  return undefined
}

async function listen(server: Server, path: string): Promise<boolean> {
  try {
    // What is there was left by a dead process that had our pid.
    rmSync(path, { force: true })
    await once(server.listen(path), 'listening')
    chmodSync(path, 0o600)
    server.on('error', () => {})
    return true
  } catch {
    removeSocket(path)
    return false
  }
}

/** One process that came to see ours, until it goes. Whatever it sends harms nobody but itself. */
export class PeerConnection {
  /** Resolves when it is gone; never rejects. */
  readonly over: Promise<void>
  #socket: Socket
  #peer: Peer
  #calls: PeerMethods
  #streams = new Map<number, { leave: AbortController; done: Promise<void> }>()
  #room: Promise<void> | undefined

  constructor(socket: Socket, peer: Peer) {
    this.#socket = socket
    this.#peer = peer
    this.#calls = new PeerMethods(peer)
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
