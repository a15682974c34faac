import type { Clock } from '../base/clock.ts'
import type { TurnAtWork, Peer } from '../core/talk/peer.ts'
import type { ConnectedPeer } from '../faces/peer/peer-client.ts'
import { basename } from 'node:path'

const door = () => import('../faces/peer/peer.ts')

/** So long a turn has to itself: its agent runs by then, and one that is over pays nothing for being reachable. */
const headStartMs = 100

/** Serves the turns of this process to the others of the same home, soon and until it is closed. */
export function serveTurns(home: string, turns: Peer, clock: Clock): { close(): Promise<void> } {
  const closing = new AbortController()
  const soon = async () => {
    await clock.sleep(headStartMs, closing.signal)
    if (closing.signal.aborted) return undefined
    const { servePeer } = await door()
    return servePeer(turns, home, clock)
  }
  // A turn that nobody else can reach is a turn all the same.
  const served = soon().catch(() => undefined)
  return {
    async close() {
      closing.abort()
      await (await served)?.close()
    },
  }
}

/** The other processes of this home that can be reached; each is to be closed. */
export async function peers(home: string, clock: Clock): Promise<ConnectedPeer[]> {
  const { connectPeer, findSockets, ownSocketName } = await door()
  const paths = findSockets(home).filter((path) => basename(path) !== ownSocketName())
  const met = await Promise.all(paths.map((path) => connectPeer(path, clock)))
  return met.filter((peer) => peer !== undefined)
}

/** The one of them that runs a turn. */
export async function peerOf(home: string, turn: string, clock: Clock): Promise<ConnectedPeer | undefined> {
  const all = await peers(home, clock)
  const runs = await Promise.all(all.map(async (peer) => (await peer.turns()).some((one) => one.turn === turn)))
  const found = all.find((_peer, index) => runs[index])
  await Promise.all(all.filter((peer) => peer !== found).map((peer) => peer.close()))
  return found
}

/** Every turn that another process says is at work in it. */
export async function turnsOfPeers(home: string, clock: Clock): Promise<(TurnAtWork & { pid: number })[]> {
  const told = (await peers(home, clock)).map(async (peer) => {
    const turns = await peer.turns()
    await peer.close()
    return turns.map((turn) => ({ ...turn, pid: peer.pid }))
  })
  return (await Promise.all(told)).flat()
}

/** Where the processes of this home are reached. */
export async function socketsOf(home: string): Promise<string[]> {
  return (await door()).findSockets(home)
}
