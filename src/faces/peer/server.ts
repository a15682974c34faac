import type { Server } from 'node:net'
import type { Clock } from '../../base/clock.ts'
import type { Peer } from '../../core/talk/peer.ts'
import { once } from 'node:events'
import { chmodSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { ownSocketName, readyFolder, removeSocket, socketFolders } from './place.ts'
import { Visit } from './visit.ts'

export type Served = { path: string; close(): Promise<void> }

/** How long whoever follows may take to read the last of it. */
const graceMs = 250

/**
 * Serves a Peer to the other processes of the same person, without keeping this one alive.
 * Undefined where no socket can be had that is ours alone.
 */
export async function servePeer(peer: Peer, home: string, clock: Clock): Promise<Served | undefined> {
  const visits = new Set<Visit>()
  const server = createServer((socket) => {
    const visit = new Visit(
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
    if (readyFolder(folder) && (await listen(server, path))) return path
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
