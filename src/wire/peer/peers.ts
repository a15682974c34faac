import type { Clock } from '../../base/time/clock.ts'
import type { TurnAtWork, Peer } from '../../core/turns/peer.ts'
import type { ConnectedPeer } from './peer-client.ts'
import { basename } from 'node:path'

/** A turn is served after this delay: its agent runs by then, and a shorter turn costs nothing. */
const headStartMs = 100

/** Serves the turns of this process to the other processes of the same home, until it is closed. */
export function serveTurns(home: string, turns: Peer, clock: Clock): { close(): Promise<void> } {
  const closing = new AbortController()
  const soon = async () => {
    await clock.sleep(headStartMs, closing.signal)
    if (closing.signal.aborted) return undefined
    const { servePeer } = await import('./peer-server.ts')
    return servePeer(turns, home, clock)
  }
  // A turn that other processes cannot reach runs all the same.
  const served = soon().catch(() => undefined)
  return {
    async close() {
      closing.abort()
      await (await served)?.close()
    },
  }
}

/** Connects to the other processes of this home; the caller closes each connection. */
export async function peers(home: string, clock: Clock): Promise<ConnectedPeer[]> {
  const met = await Promise.all((await peerPlaces(home, clock)).map(({ connect }) => connect()))
  return met.filter((peer) => peer !== undefined)
}

/** Lists the other processes of this home that may run turns, each with the way to connect to it. */
export async function peerPlaces(
  home: string,
  clock: Clock,
): Promise<{ name: string; connect(): Promise<ConnectedPeer | undefined> }[]> {
  const [{ connectPeer }, { findSockets, mayAnswer, ownSocketName }] = await Promise.all([
    import('./peer-client.ts'),
    import('./peer-sockets.ts'),
  ])
  return findSockets(home)
    .filter((path) => basename(path) !== ownSocketName() && mayAnswer(path))
    .map((path) => ({ name: path, connect: () => connectPeer(path, clock) }))
}

/** Connects to the process that runs a turn. */
export async function peerOf(home: string, turn: string, clock: Clock): Promise<ConnectedPeer | undefined> {
  const all = await peers(home, clock)
  const runs = await Promise.all(all.map(async (peer) => (await peer.turns()).some((one) => one.turn === turn)))
  const found = all.find((_peer, index) => runs[index])
  await Promise.all(all.filter((peer) => peer !== found).map((peer) => peer.close()))
  return found
}

/** Lists the turns that other processes say they run. */
export async function turnsOfPeers(home: string, clock: Clock): Promise<(TurnAtWork & { pid: number })[]> {
  const told = (await peers(home, clock)).map(async (peer) => {
    const turns = await peer.turns()
    await peer.close()
    return turns.map((turn) => ({ ...turn, pid: peer.pid }))
  })
  return (await Promise.all(told)).flat()
}

/** Lists the sockets of the processes of this home. */
export async function socketsOf(home: string): Promise<string[]> {
  const { findSockets } = await import('./peer-sockets.ts')
  return findSockets(home)
}
