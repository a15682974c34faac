import type { Server } from 'node:net'
import type { Clock } from '../../base/time/clock.ts'
import type { Peer } from '../../core/turns/peer.ts'
import { once } from 'node:events'
import { chmodSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { WireAnswering } from '../frames/answering.ts'
import { Connection } from '../frames/connection.ts'
import { wireVersion, encodeFrame } from '../frames/frames.ts'
import { unixCarrier } from '../frames/unix-carrier.ts'
import { PeerAnswers } from './peer-answers.ts'
import { ensurePrivateFolder, ownSocketName, removeSocket, socketFolders } from './peer-sockets.ts'

type ServedPeer = { path: string; close(): Promise<void> }

/** Other processes of the same home ask in the name of its owner. */
const thisPerson = { name: 'user', role: 'admin' } as const

/** How long followers may take to read the last frames when the server closes. */
const graceMs = 250

/**
 * Serves a Peer to the other processes of the same person, without keeping this process alive. Returns undefined if there is no
 * socket that only this person can open.
 */
export async function servePeer(peer: Peer, home: string, clock: Clock): Promise<ServedPeer | undefined> {
  const connections = new Map<Connection, WireAnswering>()
  const server = createServer((socket) => {
    const connection = new Connection(unixCarrier(socket.unref()), clock)
    connection.send(encodeFrame({ type: 'hello', ...wireVersion, pid: process.pid })!)
    connections.set(connection, new WireAnswering(connection, new PeerAnswers(peer), thisPerson))
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
      // Nothing waits for these promises: connections that are still open after the sleep are cut.
      for (const [connection, answering] of connections)
        void answering.settled().then(() => connection.end('this process has exited'))
      void Promise.all([...connections.keys()].map(({ over }) => over)).then(() => gone.abort())
      await clock.sleep(graceMs, gone.signal)
      for (const connection of connections.keys()) connection.cut('this process has exited')
    },
  }
}

async function listenBelow(home: string, server: Server): Promise<string | undefined> {
  const folders = socketFolders(home)
  // Listening is tried twice: another process may remove an empty folder just before this one listens in it.
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
