import type { Server, Socket } from 'node:net'
import type { Clock } from '../../base/clock.ts'
import type { Peer } from '../../core/talk/peer.ts'
import type { Frames } from './peer-methods.ts'
import { once } from 'node:events'
import { chmodSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { Lines } from '../../base/lines.ts'
import { drain } from '../../base/relay.ts'
import { frameOf, longestFrame, readFrame, version } from './peer-frames.ts'
import { PeerMethods, streamOf } from './peer-methods.ts'
import { ensurePrivateFolder, ownSocketName, removeSocket, socketFolders } from './peer-sockets.ts'

type ServedPeer = { path: string; close(): Promise<void> }

/** How long followers may take to read the last frames when the server closes. */
const graceMs = 250

/**
 * Serves a Peer to the other processes of the same person, without keeping this process alive.
 * Returns undefined where no socket can be had that only this person can open.
 */
export async function servePeer(peer: Peer, home: string, clock: Clock): Promise<ServedPeer | undefined> {
  const connections = new Set<PeerConnection>()
  const server = createServer((socket) => {
    const connection = new PeerConnection(
      socket.unref().on('error', () => {}),
      peer,
    )
    connections.add(connection)
    // A connection ends by itself; the server goes on with the others.
    void connection.over.then(() => connections.delete(connection))
  }).unref()
  const path = await listenBelow(home, server)
  if (path === undefined) return undefined
  return {
    path,
    async close() {
      server.close()
      removeSocket(path)
      const gone = new AbortController()
      // Neither is waited for: connections that have not ended after the sleep are cut.
      for (const connection of connections) void connection.end()
      void Promise.all([...connections].map(({ over }) => over)).then(() => gone.abort())
      await clock.sleep(graceMs, gone.signal)
      for (const connection of connections) connection.cut()
    },
  }
}

async function listenBelow(home: string, server: Server): Promise<string | undefined> {
  const folders = socketFolders(home)
  // Tried twice: another process may remove an empty folder just before this one listens in it.
  for (const folder of [...folders, ...folders]) {
    const path = join(folder, ownSocketName())
    if (ensurePrivateFolder(folder) && (await listenAt(server, path))) return path
  }
  return undefined
}

async function listenAt(server: Server, path: string): Promise<boolean> {
  try {
    // A socket that is already there was left by a dead process with the same pid.
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

/** The connection of one other process. Nothing that it sends can harm this one. */
class PeerConnection {
  /** Resolves when the other process has gone; never rejects. */
  readonly over: Promise<void>
  #socket: Socket
  #peer: Peer
  #methods: PeerMethods
  #streams = new Map<number, { leave: AbortController; done: Promise<void> }>()
  #room: Promise<void> | undefined

  constructor(socket: Socket, peer: Peer) {
    this.#socket = socket
    this.#peer = peer
    this.#methods = new PeerMethods(peer)
    this.over = this.#receive()
  }

  /** Closes the connection once its streams have sent their last frames. */
  async end(): Promise<void> {
    await Promise.all([...this.#streams.values()].map(({ done }) => done))
    this.#socket.end()
  }

  /** Closes the connection at once: a process that does not read would hold this one up. */
  cut(): void {
    this.#socket.destroy()
  }

  async #receive(): Promise<void> {
    const lines = new Lines(longestFrame)
    try {
      await this.#write(frameOf({ termaite: 'peer', version, pid: process.pid }))
      // Requests are read no faster than their answers are taken, so that a backlog stays on the other side.
      for await (const chunk of this.#socket.setEncoding('utf8'))
        for (const line of lines.push(String(chunk))) await this.#serve(line)
    } catch {
      // The other process went without closing its connection.
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
    else await this.#write(frameOf({ id, ...(await this.#methods.answer(method, given)) }) ?? frameOf(tooLong(id)))
  }

  #stream(id: number, frames: Frames): void {
    const leave = new AbortController()
    const run = async () => {
      // A stream that breaks has ended for the follower: nobody else would handle its rejection.
      const sent = drain(frames(id, leave.signal), (frame) => this.#write(frame)).catch(() => undefined)
      const done = (await sent) ?? null
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
