import type { Entry, Event } from '../core/talk/entry.ts'
import type { Peer } from '../core/talk/peer.ts'
import type { App } from '../app/app.ts'
import type { Audience } from './audience.ts'
import type { Page } from './pages.ts'
import { join } from 'node:path'
import { peers } from '../app/peers.ts'
import { closingOf, TurnSeen } from './closing.ts'
import { Foreign } from './foreign.ts'
import { watchFile } from '../base/file-watch.ts'

type Followed = { turn: string; peer: Peer; asks: Set<string>; begun: boolean }

export type ElsewhereParts = {
  app(): App
  audience: Audience
  /** Every event that is shown, before it is. */
  seen(event: Event): void
  /** A turn of another process is over. */
  over(): Promise<void>
}

/** After the first word of a turn its process takes a moment until it can be reached. */
const momentMs = 250

/** The turns of this conversation that other processes run: they are shown here, and wishes reach them. */
export class Elsewhere {
  #parts: ElsewhereParts
  #followed: Followed[] = []
  #looked: string | undefined
  #foreign: Foreign | undefined
  #watcher: { close(): void } | undefined
  #looking = false
  #stop = new AbortController()

  constructor(parts: ElsewhereParts) {
    this.#parts = parts
  }

  /** The ids of the turns that will be shown: their entries come with them. */
  async look(): Promise<Set<string>> {
    const { session } = this.#parts.app()
    if (this.#looked !== session.id) {
      this.#looked = session.id
      await this.#meet(() => true)
    }
    return this.#turns()
  }

  /** From here on: `page` is what is on the screen already. */
  follow(page: Page): void {
    const { project, session, place, ephemeral } = this.#parts.app()
    this.#foreign = new Foreign(project.log, session.id, page, this.#turns())
    this.#showNew()
    if (!ephemeral)
      this.#watcher ??= watchFile(
        join(place.home, 'projects', project.slug, 'history.jsonl'),
        () => void this.#written(),
      )
  }

  /** Whether somebody took it. */
  async steer(text: string): Promise<boolean> {
    const last = this.#followed.at(-1)
    return last !== undefined && (await last.peer.steer(last.turn, text).catch(() => false))
  }

  cancel(): boolean {
    const last = this.#followed.at(-1)
    void last?.peer.cancel(last.turn).catch(() => {})
    if (last) void this.#parts.audience.tell({ type: 'stopping' })
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
    this.#watcher?.close()
  }

  #turns(): Set<string> {
    return new Set(this.#followed.map(({ turn }) => turn))
  }

  /** Somebody wrote into the log; what is written meanwhile is part of the same look. */
  async #written(): Promise<void> {
    if (this.#looking || this.#stop.signal.aborted) return
    this.#looking = true
    await this.#parts.app().io.clock.sleep(momentMs, this.#stop.signal)
    this.#looking = false
    if (!this.#stop.signal.aborted) await this.#readOn().catch(() => {})
  }

  /** A turn that can be reached is followed; another one is shown once it is over. */
  async #readOn(): Promise<void> {
    const foreign = this.#foreign
    if (!foreign) return
    const { over, open } = await foreign.read()
    for (const entries of over) await this.#showWhole(entries)
    if (open.length === 0) return
    await this.#meet((turn) => open.includes(turn))
    for (const turn of this.#turns()) foreign.drop(turn)
    this.#showNew()
  }

  async #meet(wanted: (turn: string) => boolean): Promise<void> {
    const { place, io, session } = this.#parts.app()
    for (const peer of await peers(place.home, io.clock)) {
      const turns = (await peer.turns()).filter((one) => one.session === session.id && wanted(one.turn))
      for (const { turn } of turns) this.#followed.push({ turn, peer, asks: new Set(), begun: false })
      if (turns.length === 0) await peer.close()
    }
  }

  #showNew(): void {
    for (const followed of this.#followed.filter(({ begun }) => !begun)) void this.#show(followed)
  }

  async #show(followed: Followed): Promise<void> {
    const { turn, peer, asks } = followed
    followed.begun = true
    const seen = this.#turnSeen()
    for await (const event of peer.follow(turn, this.#stop.signal)) {
      if (event.type === 'question') asks.add(event.ask)
      await this.#tell(turn, event, seen)
    }
    this.#followed = this.#followed.filter((one) => one !== followed)
    if (!this.#followed.some((one) => one.peer === peer)) await peer.close()
    if (!this.#stop.signal.aborted) await this.#close(turn, seen)
  }

  async #showWhole(entries: readonly Entry[]): Promise<void> {
    const { turn } = entries.at(-1)!
    const seen = this.#turnSeen()
    for (const entry of entries) await this.#tell(turn, entry, seen)
    await this.#close(turn, seen)
  }

  #turnSeen(): TurnSeen {
    return new TurnSeen(this.#parts.app().io.clock)
  }

  async #tell(turn: string, event: Event, seen: TurnSeen): Promise<void> {
    seen.see(event)
    this.#parts.seen(event)
    await this.#parts.audience.tell({ type: 'event', turn, event })
  }

  async #close(turn: string, seen: TurnSeen): Promise<void> {
    const closing = { ...(await closingOf(this.#parts.app(), seen, undefined)), turn }
    await this.#parts.audience.tell({ type: 'closing', closing })
    await this.#parts.over()
  }
}
