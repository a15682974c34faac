import type { Clock } from '../../base/clock.ts'
import type { Event } from '../../core/talk/entry.ts'
import type { MachineTurns, TurnChange, TurnRow } from '../../core/talk/machine-turns.ts'
import type { Peer, TurnAtWork } from '../../core/talk/peer.ts'
import { defined } from '../../base/defined.ts'

/** A process of this home that may run turns. */
export type PeerPlace = { name: string; connect(): Promise<Peer | undefined> }

type Parts = {
  machine: string
  clock: Clock
  /** Finds the processes that run now. */
  find(): Promise<PeerPlace[]>
  /** The words of a row, without secrets. */
  mask(text: string): string
}

/** A follower that is slow gets the newest state of each turn, and not every state before it. */
type Follower = { pending: Map<string, TurnChange>; wake(): void }

/** How often processes are looked for, and each one is asked for its turns. */
const paceMs = 1_000

/** How much of an agent's newest words a row has. */
const longestWords = 280

/**
 * The turns of all processes of this home. They are followed only while somebody is there: a turn without a person at its own
 * terminal waits for the answer to a question as long as anybody follows it.
 */
export class PeerTurns implements MachineTurns {
  #parts: Parts
  #followers = new Set<Follower>()
  #peers = new Map<string, Peer>()
  #turns = new Map<string, { peer: Peer; row: TurnRow }>()
  #looking: AbortController | undefined

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async *follow(signal: AbortSignal): AsyncGenerator<TurnChange> {
    if (signal.aborted) return
    const follower: Follower = { pending: new Map(), wake() {} }
    for (const { row } of this.#turns.values()) follower.pending.set(row.turn, { type: 'turn', row })
    this.#followers.add(follower)
    const leave = () => follower.wake()
    signal.addEventListener('abort', leave, { once: true })
    if (!this.#looking) {
      this.#looking = new AbortController()
      void this.#look(this.#looking.signal)
    }
    try {
      while (!signal.aborted) {
        const woken = new Promise<void>((resolve) => (follower.wake = resolve))
        const changes = [...follower.pending.values()]
        follower.pending.clear()
        yield* changes
        if (follower.pending.size === 0 && !signal.aborted) await woken
      }
    } finally {
      signal.removeEventListener('abort', leave)
      this.#followers.delete(follower)
      if (this.#followers.size === 0) this.#stop()
    }
  }

  async answer(turn: string, ask: string, picks?: string[]): Promise<boolean> {
    return (await this.#turns.get(turn)?.peer.answer(turn, ask, picks)) ?? false
  }

  async steer(turn: string, text: string): Promise<boolean> {
    return (await this.#turns.get(turn)?.peer.steer(turn, text)) ?? false
  }

  async cancel(turn: string): Promise<boolean> {
    return (await this.#turns.get(turn)?.peer.cancel(turn)) ?? false
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
      await Promise.all(places.map((place) => this.#meet(place, signal)))
      const here = new Set(places.map(({ name }) => name))
      for (const [name, peer] of this.#peers)
        if (!here.has(name)) {
          this.#peers.delete(name)
          void peer.close()
        }
      await this.#parts.clock.sleep(paceMs, signal)
    }
  }

  /** Connects to a process that is new, and follows its new turns. */
  async #meet({ name, connect }: PeerPlace, signal: AbortSignal): Promise<void> {
    const peer = this.#peers.get(name) ?? (await connect().catch(() => undefined))
    if (!peer) return
    if (signal.aborted) {
      await peer.close()
      return
    }
    this.#peers.set(name, peer)
    for (const turn of await peer.turns().catch(() => []))
      if (!this.#turns.has(turn.turn) && !signal.aborted) void this.#watch(peer, turn, signal)
  }

  async #watch(peer: Peer, about: TurnAtWork, signal: AbortSignal): Promise<void> {
    const { machine, mask } = this.#parts
    const prompt = mask(about.prompt)
    const seen = { peer, row: { ...about, prompt, machine, asks: [] } as TurnRow }
    this.#turns.set(about.turn, seen)
    this.#tell({ type: 'turn', row: seen.row })
    try {
      for await (const event of peer.follow(about.turn, signal)) {
        const next = this.#changed(seen.row, event)
        if (next === seen.row) continue
        seen.row = next
        this.#tell({ type: 'turn', row: next })
      }
    } catch {
      // A process that died ends its turns.
    }
    this.#turns.delete(about.turn)
    if (!signal.aborted) this.#tell({ type: 'turn-over', turn: about.turn })
  }

  /** The row after an event; the same one where the event changes nothing that is shown. */
  #changed(row: TurnRow, event: Event): TurnRow {
    const { clock, mask } = this.#parts
    const by = event.by !== undefined && event.by !== 'termaite' && event.by !== 'user' ? event.by : row.by
    if (event.type === 'question') {
      const asked = { ask: event.ask, question: event.question, at: 'at' in event ? Number(event.at) : clock.now() }
      return { ...row, asks: [...row.asks.filter(({ ask }) => ask !== event.ask), asked] }
    }
    if (event.type === 'answer') return { ...row, asks: row.asks.filter(({ ask }) => ask !== event.ask) }
    if (event.type === 'reply') return defined({ ...row, by, words: lastLine(mask(event.text)) })
    if (event.type === 'call') return defined({ ...row, by, words: event.tool })
    return by === row.by ? row : defined({ ...row, by })
  }

  #tell(change: TurnChange): void {
    for (const follower of this.#followers) {
      follower.pending.set(change.type === 'turn' ? change.row.turn : change.turn, change)
      follower.wake()
    }
  }
}

const lastLine = (text: string) => (text.trimEnd().split('\n').at(-1) ?? '').slice(0, longestWords)
