import type { Entry, Event } from '../core/talk/entry.ts'
import type { Peer } from '../core/talk/peer.ts'
import type { Conversation } from '../core/work/conversation.ts'
import type { App } from '../app/app.ts'
import type { Audience } from './audience.ts'
import type { Page } from './history-pages.ts'
import type { Log } from '../core/talk/store.ts'
import { join } from 'node:path'
import { peers } from '../app/peers.ts'
import { closingOf, TurnSummary } from './turn-summary.ts'
import { watchFile } from '../base/file-watch.ts'
import { ownerMark } from '../base/owner.ts'
import { isEntry } from '../core/talk/entry.ts'
import { messageOf } from '../base/error-message.ts'

type Followed = { turn: string; peer: Peer; asks: Set<string>; begun: boolean }

export type OtherProcessesParts = {
  app(): App
  audience: Audience
  /** Called with every event before it is shown. */
  seen(event: Event): void
  /** Called when a turn of another process has ended. */
  over(): Promise<void>
}

/** How long another process may take until its socket answers, after its turn appears in the log. */
const momentMs = 250

/** How often the desk looks whether a process that cannot be followed still lives. */
const lookMs = 1000

/** The turns of this conversation that run in other processes. They are shown here, and can be steered, answered and cancelled. */
export class OtherProcesses {
  #parts: OtherProcessesParts
  #followed: Followed[] = []
  #looked: string | undefined
  #foreign: ForeignTurns | undefined
  #watcher: { close(): void } | undefined
  #looking = false
  #stop = new AbortController()

  constructor(parts: OtherProcessesParts) {
    this.#parts = parts
  }

  /** Connects to the running turns; returns the ids of those that bring their own entries. */
  async look(): Promise<Set<string>> {
    const { session } = this.#parts.app()
    if (this.#looked !== session.id) {
      this.#looked = session.id
      await this.#meet(() => true)
    }
    return this.#turns()
  }

  /** Follows the log from the end of `page`, which is already on the screen. */
  follow(page: Page): void {
    const { project, session, place, ephemeral } = this.#parts.app()
    this.#foreign = new ForeignTurns(project.log, session.id, page, this.#turns())
    this.#showNew()
    if (!ephemeral)
      this.#watcher ??= watchFile(join(place.home, 'projects', project.slug, 'history.jsonl'), () => {
        // Every error of the read is left to the next change of the log.
        void this.#written()
      })
  }

  /** Returns whether a running turn took the text. */
  async steer(text: string): Promise<boolean> {
    const last = this.#followed.at(-1)
    return last !== undefined && (await last.peer.steer(last.turn, text).catch(() => false))
  }

  cancel(): boolean {
    const last = this.#followed.at(-1)
    // A process that is gone has nothing left to cancel.
    last?.peer.cancel(last.turn).catch(() => {})
    if (last) void this.#parts.audience.tell({ type: 'stopping' })
    return last !== undefined
  }

  answer(ask: string, picks?: string[]): boolean {
    const asking = this.#followed.find(({ asks }) => asks.has(ask))
    asking?.peer.answer(asking.turn, ask, picks).catch(() => {})
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

  /** Reads the log after a change. Changes during the read cause one more read. */
  async #written(): Promise<void> {
    if (this.#looking || this.#stop.signal.aborted) return
    this.#looking = true
    await this.#parts.app().io.clock.sleep(momentMs, this.#stop.signal)
    this.#looking = false
    if (!this.#stop.signal.aborted) await this.#readOn().catch(() => {})
  }

  /** Follows a turn whose process answers; any other turn is shown once it has ended. */
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
    for (const followed of this.#followed.filter(({ begun }) => !begun))
      this.#show(followed).catch((error) => this.#parts.audience.say(messageOf(error), 'error'))
  }

  async #show(followed: Followed): Promise<void> {
    const { turn, peer, asks } = followed
    followed.begun = true
    const seen = this.#turnSeen()
    const { conversation } = this.#parts.app()
    const told = new Set<string>()
    for await (const event of peer.follow(turn, this.#stop.signal)) {
      if (event.type === 'question') asks.add(event.ask)
      if (isEntry(event)) told.add(event.id)
      await this.#tell(turn, event, seen)
    }
    // A process that was killed keeps no end of its turn, and nobody may be shown at work who is not.
    if (seen.outcome === undefined)
      for (const entry of await this.#untilEnded(turn, conversation))
        if (!told.has(entry.id)) await this.#tell(turn, entry, seen)
    this.#followed = this.#followed.filter((one) => one !== followed)
    if (!this.#followed.some((one) => one.peer === peer)) await peer.close()
    if (!this.#stop.signal.aborted) await this.#close(turn, seen)
  }

  /** Waits until the turn has its end in the log, which a dead process is given here; returns the entries of the turn. */
  async #untilEnded(turn: string, conversation: Conversation): Promise<Entry[]> {
    const { clock } = this.#parts.app().io
    for (let pause = momentMs / 5; !this.#stop.signal.aborted; pause = Math.min(pause * 2, lookMs)) {
      await conversation.settle().catch(() => {})
      const own = await conversation.read().then(
        ({ entries }) => entries.filter((entry) => entry.turn === turn),
        () => [],
      )
      if (own.some(({ type }) => type === 'end')) return own
      await clock.sleep(pause, this.#stop.signal)
    }
    return []
  }

  async #showWhole(entries: readonly Entry[]): Promise<void> {
    const { turn } = entries.at(-1)!
    const seen = this.#turnSeen()
    for (const entry of entries) await this.#tell(turn, entry, seen)
    await this.#close(turn, seen)
  }

  #turnSeen(): TurnSummary {
    return new TurnSummary(this.#parts.app().io.clock)
  }

  async #tell(turn: string, event: Event, seen: TurnSummary): Promise<void> {
    seen.see(event)
    this.#parts.seen(event)
    await this.#parts.audience.tell({ type: 'event', turn, event })
  }

  async #close(turn: string, seen: TurnSummary): Promise<void> {
    const closing = { ...(await closingOf(this.#parts.app(), seen, undefined)), turn }
    await this.#parts.audience.tell({ type: 'closing', closing })
    await this.#parts.over()
  }
}

/** A turn of another process: its entries that were not shown yet, and whether its prompt was. */
type Begun = { entries: Entry[]; shown: boolean }

/** Reads from the log the turns that other processes add to a session. */
export class ForeignTurns {
  #log: Log<Entry>
  #session: string
  #seen: number
  #open = new Map<string, Begun>()

  /** `page` is already on the screen; turns in `followed` are shown through their process. */
  constructor(log: Log<Entry>, session: string, page: Page, followed: ReadonlySet<string>) {
    this.#log = log
    this.#session = session
    this.#seen = page.through
    this.#sort(page.entries.filter(({ turn }) => !followed.has(turn)))
    for (const begun of this.#open.values()) Object.assign(begun, { entries: [], shown: true })
  }

  /** Reads the new part of the log: entries of ended turns, and ids of turns that still run. */
  async read(): Promise<{ over: Entry[][]; open: string[] }> {
    const fresh: Entry[] = []
    let newest: number | undefined
    for await (const { at, item } of this.#log.back()) {
      newest ??= at
      // An erased log starts again at zero.
      if (newest < this.#seen) this.#seen = -1
      if (at <= this.#seen) break
      if (isEntry(item) && item.session === this.#session) fresh.push(item)
    }
    this.#seen = newest ?? -1
    const over = this.#sort(fresh.reverse())
    return { over, open: [...this.#open].flatMap(([turn, { shown }]) => (shown ? [] : [turn])) }
  }

  /** A turn that is followed through its process needs no entries from the log. */
  drop(turn: string): void {
    this.#open.delete(turn)
  }

  #sort(entries: readonly Entry[]): Entry[][] {
    const over: Entry[][] = []
    for (const entry of entries) {
      if (entry.type === 'prompt' && entry.owner !== undefined && entry.owner !== ownerMark())
        this.#open.set(entry.turn, { entries: [], shown: false })
      const begun = this.#open.get(entry.turn)
      begun?.entries.push(entry)
      if (!begun || entry.type !== 'end') continue
      over.push(begun.entries)
      this.#open.delete(entry.turn)
    }
    return over
  }
}
