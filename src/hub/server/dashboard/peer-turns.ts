import type { Clock } from '../../../base/time/clock.ts'
import type { Event } from '../../../core/talk/entry.ts'
import type { LiveChange, MachineTurns, TurnChange, TurnRow } from '../../../core/turns/machine-turns.ts'
import type { Peer } from '../../../core/turns/peer.ts'
import type { MetTurn, PeerPlace } from './met-peers.ts'
import { defined } from '../../../base/defined.ts'
import { LiveWords } from './live-words.ts'
import { MetPeers } from './met-peers.ts'
import { TurnFeed } from './turn-feed.ts'

type PeerTurnParts = {
  machine: string
  clock: Clock
  /** Finds the processes that run now. */
  find(): Promise<PeerPlace[]>
  /** The words of a row, without secrets. */
  mask(text: string): string
  /** Whether the turns are only read: then no turn waits for an answer from here. */
  onlyReading?: boolean
}

/** Live words are sent at most this often, so that many small pieces become one. */
const livePaceMs = 100

/** How much of an agent's newest words a row has. */
const longestWords = 280

/**
 * The turns of all processes of this home. They are followed only while somebody is there: a turn without a person at its own
 * terminal waits for the answer to a question as long as anybody follows it.
 */
export class PeerTurns implements MachineTurns {
  #parts: PeerTurnParts
  #met: MetPeers
  #feed = new TurnFeed(() => this.#start())
  /** The process of each turn that is followed. */
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
        // A process that died ends its turns.
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
      // A turn that is followed ends by itself, and never rejects.
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
      // A process that died ends its turns.
    }
    // A follower that has come since then has found the turn again.
    if (signal.aborted) return
    this.#peers.delete(about.turn)
    this.#feed.tell({ type: 'turn-over', turn: about.turn })
  }

  /** The row after an event; the same row if the event changes nothing that is shown. */
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
