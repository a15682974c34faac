import type { Peer } from '../../core/talk/peer.ts'
import type { App } from '../app.ts'
import type { Audience } from './audience.ts'
import { peers } from '../peers.ts'
import { closingOf, TurnSeen } from './closing.ts'

type Followed = { turn: string; peer: Peer; asks: Set<string>; begun: boolean }

/** The turns of this conversation that other processes run: they are shown here, and wishes reach them. */
export class Elsewhere {
  #audience: Audience
  #over: () => Promise<void>
  #followed: Followed[] = []
  #looked: string | undefined
  #stop = new AbortController()

  constructor(audience: Audience, over: () => Promise<void>) {
    this.#audience = audience
    this.#over = over
  }

  /** The ids of the turns that will be shown: their entries come with them. */
  async look({ place, io, session }: App): Promise<Set<string>> {
    if (this.#looked === session.id) return this.#turns()
    this.#looked = session.id
    for (const peer of await peers(place.home, io.clock)) {
      const turns = (await peer.turns()).filter((turn) => turn.session === session.id)
      for (const { turn } of turns) this.#followed.push({ turn, peer, asks: new Set(), begun: false })
      if (turns.length === 0) await peer.close()
    }
    return this.#turns()
  }

  follow(app: App): void {
    for (const followed of this.#followed.filter(({ begun }) => !begun)) void this.#show(app, followed)
  }

  /** Whether somebody took it. */
  async steer(text: string): Promise<boolean> {
    const last = this.#followed.at(-1)
    return last !== undefined && (await last.peer.steer(last.turn, text).catch(() => false))
  }

  cancel(): boolean {
    const last = this.#followed.at(-1)
    void last?.peer.cancel(last.turn).catch(() => {})
    return last !== undefined
  }

  answer(ask: string, picks?: string[]): boolean {
    const asking = this.#followed.find(({ asks }) => asks.has(ask))
    void asking?.peer.answer(asking.turn, ask, picks).catch(() => {})
    return asking !== undefined
  }

  get busy(): boolean {
    return this.#followed.length > 0
  }

  close(): void {
    this.#stop.abort()
  }

  #turns(): Set<string> {
    return new Set(this.#followed.map(({ turn }) => turn))
  }

  async #show(app: App, followed: Followed): Promise<void> {
    const { turn, peer, asks } = followed
    followed.begun = true
    const seen = new TurnSeen(app.io.clock)
    for await (const event of peer.follow(turn, this.#stop.signal)) {
      seen.see(event)
      if (event.type === 'question') asks.add(event.ask)
      await this.#audience.tell({ type: 'event', turn, event })
    }
    this.#followed = this.#followed.filter((one) => one !== followed)
    if (!this.#followed.some((one) => one.peer === peer)) await peer.close()
    if (this.#stop.signal.aborted) return
    await this.#audience.tell({ type: 'closing', closing: { ...(await closingOf(app, seen, undefined)), turn } })
    await this.#over()
  }
}
