import type { Clock } from '../../../base/time/clock.ts'
import type { Peer, TurnAtWork } from '../../../core/turns/peer.ts'

/** A process of this home that may run turns. */
export type PeerPlace = { name: string; connect(): Promise<Peer | undefined> }

/** A turn that runs, and the connection to its process. */
export type MetTurn = { peer: Peer; about: TurnAtWork }

type MetPeerParts = {
  clock: Clock
  /** Finds the processes that run now. */
  find(): Promise<PeerPlace[]>
}

/** How often processes are looked for, and each one is asked for its turns. */
const paceMs = 1_000

/** The connections to all processes of this home. They are open only while somebody wants to know of their turns. */
export class MetPeers {
  #parts: MetPeerParts
  #listeners = new Set<(turn: MetTurn) => void>()
  #peers = new Map<string, Peer>()
  #turns = new Map<string, MetTurn>()
  #looking: AbortController | undefined

  constructor(parts: MetPeerParts) {
    this.#parts = parts
  }

  /** Calls `see` once with each turn that runs, and with each new one, until the returned function is called. */
  join(see: (turn: MetTurn) => void): () => void {
    this.#listeners.add(see)
    for (const turn of this.#turns.values()) see(turn)
    if (!this.#looking) {
      this.#looking = new AbortController()
      void this.#look(this.#looking.signal)
    }
    return () => {
      this.#listeners.delete(see)
      if (this.#listeners.size === 0) this.#stop()
    }
  }

  #stop(): void {
    this.#looking?.abort()
    this.#looking = undefined
    for (const peer of this.#peers.values()) void peer.close()
    this.#peers.clear()
    this.#turns.clear()
  }

  async #look(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const places = await this.#parts.find().catch(() => [])
      const running = new Set((await Promise.all(places.map((place) => this.#meet(place, signal)))).flat())
      if (signal.aborted) return
      for (const turn of this.#turns.keys()) if (!running.has(turn)) this.#turns.delete(turn)
      const here = new Set(places.map(({ name }) => name))
      for (const [name, peer] of this.#peers)
        if (!here.has(name)) {
          this.#peers.delete(name)
          void peer.close()
        }
      await this.#parts.clock.sleep(paceMs, signal)
    }
  }

  /** Connects to a process that is new, and reports its new turns; returns the ids of all of them. */
  async #meet({ name, connect }: PeerPlace, signal: AbortSignal): Promise<string[]> {
    const peer = this.#peers.get(name) ?? (await connect().catch(() => undefined))
    if (!peer) return []
    if (signal.aborted) {
      await peer.close()
      return []
    }
    this.#peers.set(name, peer)
    const turns = await peer.turns().catch(() => [])
    if (signal.aborted) return []
    for (const about of turns) {
      if (this.#turns.has(about.turn)) continue
      const met = { peer, about }
      this.#turns.set(about.turn, met)
      for (const see of this.#listeners) see(met)
    }
    return turns.map(({ turn }) => turn)
  }
}
