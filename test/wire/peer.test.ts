import type { TestContext } from 'node:test'
import type { Peer } from '../../src/core/turns/peer.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { realClock } from '../../src/base/time/clock.ts'
import { connectPeer } from '../../src/wire/peer/peer-client.ts'
import { servePeer } from '../../src/wire/peer/peer-server.ts'
import { peerContract } from '../contract/peer.ts'

const served = new WeakMap<Peer, ReturnType<typeof servePeer>>()

/** Serves a Peer on a socket when it is first asked for; every client comes through its socket. */
async function overSocket(peer: Peer, t: TestContext): Promise<Peer> {
  if (!served.has(peer)) {
    const home = mkdtempSync(join(tmpdir(), 'termaite-test-'))
    served.set(peer, servePeer(peer, home, realClock))
    t.after(async () => {
      await (await served.get(peer))!.close()
      rmSync(home, { recursive: true })
    })
  }
  const connected = (await connectPeer((await served.get(peer))!.path, realClock))!
  t.after(() => connected.close())
  return connected
}

peerContract('over a socket', overSocket)
