import type { Clock } from '../../../base/time/clock.ts'
import type { Event } from '../../../core/talk/entry.ts'
import type { LiveChange, MachineTurns, TurnChange, TurnRow } from '../../../core/turns/machine-turns.ts'
import type { Peer, TurnAtWork } from '../../../core/turns/peer.ts'
import { defined } from '../../../base/defined.ts'
import { LiveWords } from './live-words.ts'
import { TurnFeed } from './turn-feed.ts'

type PeerTurnParts = {
  machine: string
  clock: Clock
  /** Finds the processes that run now. */
  find(): Promise<PeerPlace[]>
  /** Hides secrets in the text of a row. */
  mask(text: string): string
  /** Whether the turns are only read, so that no turn waits for an answer from here. */
  onlyReading?: boolean
}

/** Live text is sent at most this often, so that many small pieces become one. */
const livePaceMs = 100

/** How many of an agent's newest characters a row has. */
const longestWords = 280

/**
 * The turns of all processes of this home. They are only followed while somebody looks: a turn without a person at its own terminal waits
 * for the answer to a question as long as anybody follows it.
 */
export class PeerTurns implements MachineTurns {
  #parts: PeerTurnParts
  #met: MetPeers
  #feed = new TurnFeed(() => this.#start())
  /** The process of each followed turn. */
  #peers = new Map<string, Peer>()

  constructor(parts: PeerTurnParts) {
    this.#parts = parts
    this.#met = new MetPeers(parts)
  }

  follow(signal: AbortSignal): AsyncGenerator<TurnChange> {
    return this.#feed.follow(signal)
  }

  rows(): TurnRow[] {
    return this.#feed.rows()
  }

  async *watch(session: string, signal: AbortSignal): AsyncGenerator<LiveChange> {
    const shown = new Map<string, LiveWords>()
    const changed = new Set<string>()
    let wake = () => {}
    const ring = (turn: string) => {
      changed.add(turn)
      wake()
    }
    const read = async ({ peer, about: { turn } }: MetTurn) => {
      const words = new LiveWords(turn, this.#parts.mask)
      shown.set(turn, words)
      try {
        for await (const event of peer.follow(turn, signal, 'onlyReading')) if (words.see(event)) ring(turn)
      } catch {
        // When a process dies, its turns end.
      }
      shown.delete(turn)
      ring(turn)
    }
    const leave = this.#met.join((met) => {
      if (met.about.session === session && !signal.aborted) void read(met)
    })
    const stop = () => wake()
    signal.addEventListener('abort', stop, { once: true })
    try {
      while (!signal.aborted) {
        const woken = new Promise<void>((resolve) => (wake = resolve))
        const turns = [...changed]
        changed.clear()
        for (const turn of turns) yield shown.get(turn)?.next() ?? { type: 'live-over', turn }
        if (turns.length > 0) await this.#parts.clock.sleep(livePaceMs, signal)
        if (changed.size === 0 && !signal.aborted) await woken
      }
    } finally {
      signal.removeEventListener('abort', stop)
      leave()
    }
  }

  async answer(turn: string, ask: string, picks?: string[]): Promise<boolean> {
    return (await this.#peers.get(turn)?.answer(turn, ask, picks)) ?? false
  }

  async steer(turn: string, text: string): Promise<boolean> {
    return (await this.#peers.get(turn)?.steer(turn, text)) ?? false
  }

  async cancel(turn: string): Promise<boolean> {
    return (await this.#peers.get(turn)?.cancel(turn)) ?? false
  }

  /** Follows every turn as a person who may answer, until the returned function is called. */
  #start(): () => void {
    const following = new AbortController()
    const leave = this.#met.join((met) => {
      // The following ends with the turn, and never rejects.
      void this.#watch(met, following.signal)
    })
    return () => {
      following.abort()
      leave()
      this.#peers.clear()
    }
  }

  async #watch({ peer, about }: MetTurn, signal: AbortSignal): Promise<void> {
    const { machine, mask } = this.#parts
    const prompt = mask(about.prompt)
    let row: TurnRow = { ...about, prompt, machine, asks: [] }
    this.#peers.set(about.turn, peer)
    this.#feed.tell({ type: 'turn', row })
    try {
      const how = this.#parts.onlyReading ? 'onlyReading' : undefined
      for await (const event of peer.follow(about.turn, signal, how)) {
        if (signal.aborted) return
        const next = this.#changed(row, event)
        if (next === row) continue
        row = next
        this.#feed.tell({ type: 'turn', row })
      }
    } catch {
      // When a process dies, its turns end.
    }
    // A newer follower has already found the turn again.
    if (signal.aborted) return
    this.#peers.delete(about.turn)
    this.#feed.tell({ type: 'turn-over', turn: about.turn })
  }

  /** The row after an event; the same row if the event changes nothing that the row shows. */
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
}

const lastLine = (text: string) => (text.trimEnd().split('\n').at(-1) ?? '').slice(0, longestWords)

/** A process of this home that can run turns. */
type PeerPlace = { name: string; connect(): Promise<Peer | undefined> }

/** A running turn, and the connection to its process. */
type MetTurn = { peer: Peer; about: TurnAtWork }

type MetPeerParts = {
  clock: Clock
  /** Finds the processes that run now. */
  find(): Promise<PeerPlace[]>
}

/** How often processes are looked for, and each is asked for its turns. */
const paceMs = 1_000

/** The connections to all processes of this home. They are open only while somebody wants to know about their turns. */
class MetPeers {
  #parts: MetPeerParts
  #listeners = new Set<(turn: MetTurn) => void>()
  #peers = new Map<string, Peer>()
  #turns = new Map<string, MetTurn>()
  #looking: AbortController | undefined

  constructor(parts: MetPeerParts) {
    this.#parts = parts
  }

  /** Calls `see` once for each running turn, and for each new one, until the returned function is called. */
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

  /** Connects to a new process, and reports its new turns; returns the ids of all its turns. */
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
