import type { Clock } from '../../base/clock.ts'
import type { Terminal, TerminalHost } from '../../core/screen/terminal.ts'
import type { ConnectedPeer } from '../../faces/peer/peer-client.ts'
import { TurnsAtWork } from '../../core/talk/at-work.ts'
import { peers, serveTurns } from '../peers.ts'

/** Lets the person's other processes see and type into the terminals of this one. */
export function lendTerminals(home: string, host: TerminalHost, clock: Clock): { close(): Promise<void> } {
  const turns = new TurnsAtWork()
  turns.lend((id) => host.find(id))
  return serveTurns(home, turns, clock)
}

/** Terminals inside other processes of a home; who was met is kept until it is closed. */
export function terminalsElsewhere(home: string, clock: Clock) {
  const met = new Map<string, ConnectedPeer>()
  return {
    async find(id: string): Promise<Terminal | undefined> {
      const known = await met.get(id)?.terminal(id)
      if (known) return known
      let found: Terminal | undefined
      for (const peer of await peers(home, clock)) {
        found ??= await peer.terminal(id)
        if (found && !met.has(id)) met.set(id, peer)
        else await peer.close()
      }
      return found
    },
    close: async () => void (await Promise.all([...met.values()].map((peer) => peer.close()))),
  }
}
