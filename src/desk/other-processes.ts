import type { Entry, Event } from '../core/talk/entry.ts'
import type { Peer } from '../core/turns/peer.ts'
import type { Conversation } from '../core/work/conversation.ts'
import type { App } from '../turn/app.ts'
import type { Audience } from './audience.ts'
import type { Page } from './history-pages.ts'
import type { ForeignTurn } from './foreign-turns.ts'
import { join } from 'node:path'
import { peers } from '../wire/peer/peers.ts'
import { ForeignTurns } from './foreign-turns.ts'
import { closingOf, TurnSummary } from './turn-summary.ts'
import { watchFile } from '../base/files/file-watch.ts'
import { isAlive, isHere, isStopped, ownerPid } from '../base/process/owner.ts'
import { isEntry } from '../core/talk/entry.ts'
import { messageOf } from '../base/error-message.ts'

type Followed = {
  turn: string
  peer: Peer
  asks: Set<string>
  begun: boolean
  /** The entries that are already on the screen, because they were read from the log. */
  shown?: ReadonlySet<string>
  owner?: string
  /** When the process last sent anything, by the steady clock. */
  heardAt: number
}

type OtherProcessesParts = {
  app(): App
  audience: Audience
  /** Called with every event before it is shown. */
  seen(event: Event): void
  /** Called when a turn of another process is over. */
  over(): Promise<void>
}

/** How long another process may take until its socket answers, after its turn appears in the log. */
const momentMs = 250

/** How long a prompt waits for a turn of another process that has begun and cannot be reached. */
const meetingMs = 2_000

/** How often the desk checks whether the process of a turn is still alive and answers. */
const lookMs = 1000

/** A process that sent something more recently than this is not checked. */
const quietMs = 3000

/** The turns of this conversation that run in other processes. They are shown here, and can be steered, answered and cancelled. */
export class OtherProcesses {
  #parts: OtherProcessesParts
  #followed: Followed[] = []
  #looked: string | undefined
  #foreign: ForeignTurns | undefined
  #watcher: { close(): void } | undefined
  #looking = false
  #watching = false
  #reading: Promise<void> = Promise.resolve()
  #stop = new AbortController()

  constructor(parts: OtherProcessesParts) {
    this.#parts = parts
  }

  /** Connects to the running turns. Returns the ids of those that send their own entries. */
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
    const { project, session, place, ephemeral, io } = this.#parts.app()
    const source = { log: project.log, session: session.id, clock: io.clock }
    this.#foreign = new ForeignTurns(source, page, this.#turns())
    this.#showNew()
    // The next read handles any error of this one.
    if (this.#foreign.all.length > 0) void this.#readOn()
    if (!ephemeral)
      this.#watcher ??= watchFile(join(place.home, 'projects', project.slug, 'history.jsonl'), () => {
        // The next change of the log retries after any error.
        void this.#written()
      })
  }

  /** Whether another process has just begun a turn that cannot be reached yet: it serves the turn a moment after it begins. */
  get isMeeting(): boolean {
    const now = this.#parts.app().io.clock.elapsed()
    const begun = (one: ForeignTurn) =>
      !one.over && now - one.seenAt < meetingMs && isHere(one.owner) && isAlive(one.owner)
    return !this.busy && this.#foreign?.all.some(begun) === true
  }

  /** Waits until a turn that has just begun can be reached, but only for a moment. */
  async met(): Promise<void> {
    while (this.isMeeting && !this.#stop.signal.aborted) {
      await this.#parts.app().io.clock.sleep(momentMs, this.#stop.signal)
      await this.#readOn()
    }
  }

  /** Returns whether a running turn took the text. */
  async steer(text: string): Promise<boolean> {
    const last = this.#followed.at(-1)
    return last !== undefined && (await last.peer.steer(last.turn, text).catch(() => false))
  }

  cancel(): boolean {
    const last = this.#followed.at(-1)
    if (last) void this.#cancelAt(last)
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

  async #cancelAt({ turn, peer, owner }: Followed): Promise<void> {
    const { audience } = this.#parts
    if (await peer.cancel(turn).catch(() => false)) return audience.tell({ type: 'stopping' })
    // A process that is gone has nothing left to cancel.
    const trouble = owner === undefined || !isAlive(owner) ? undefined : (stoppedWords(owner) ?? silentWords(owner))
    if (trouble !== undefined) audience.say(`The turn is not cancelled yet: ${trouble}.`, 'error')
  }

  /** Reads the log after a change. Changes during the read cause one more read. */
  async #written(): Promise<void> {
    if (this.#looking || this.#stop.signal.aborted) return
    this.#looking = true
    await this.#parts.app().io.clock.sleep(momentMs, this.#stop.signal)
    this.#looking = false
    if (!this.#stop.signal.aborted) await this.#readOn()
  }

  /** Reads the log, one read after another. The next read retries after an error. */
  #readOn(): Promise<void> {
    this.#reading = this.#reading.then(() => this.#read()).catch(() => {})
    return this.#reading
  }

  /** Follows a turn whose process answers. Shows any other turn from the log. */
  async #read(): Promise<void> {
    const foreign = this.#foreign
    if (!foreign) return
    await foreign.read()
    for (const one of foreign.all) if (one.over) await this.#showKept(one)
    if (foreign.all.length === 0) return
    await this.#meet((turn) => foreign.all.some((one) => one.turn === turn))
    for (const followed of this.#followed) {
      const known = foreign.drop(followed.turn)
      if (known) followed.shown = known.shown
    }
    this.#showNew()
    // The end of a turn on another machine may never arrive: it is shown once it is in the log.
    const here = foreign.all.filter(({ owner }) => isHere(owner))
    for (const one of here) await this.#showKept(one)
    if (here.length > 0) void this.#watch()
  }

  /** Shows the log of a turn whose process cannot be followed, and the known facts about the process. */
  async #showKept(one: ForeignTurn): Promise<void> {
    const fresh = one.fresh.splice(0)
    for (const entry of fresh) {
      one.shown.add(entry.id)
      this.#parts.seen(entry)
      await this.#parts.audience.tell({ type: 'event', turn: one.turn, event: entry })
    }
    if (one.over) {
      this.#foreign?.drop(one.turn)
      return this.#close(one.turn, one.summary)
    }
    const words = stoppedWords(one.owner) ?? silentWords(one.owner)
    if (fresh.length === 0 && words === one.told) return
    one.told = words
    await this.#tellWait(one.turn, words)
  }

  #tellWait(turn: string, words: string): Promise<void> {
    return this.#parts.audience.tell({ type: 'event', turn, event: { type: 'waiting', words, by: 'termaite' } })
  }

  /** While a turn cannot be followed: closes it if its process is dead, and follows it when its process answers again. */
  async #watch(): Promise<void> {
    if (this.#watching) return
    this.#watching = true
    const { conversation, io } = this.#parts.app()
    while (!this.#stop.signal.aborted && this.#foreign?.all.some(({ owner }) => isHere(owner))) {
      await io.clock.sleep(lookMs, this.#stop.signal)
      if (this.#foreign?.all.some(({ owner }) => !isAlive(owner))) await conversation.settle().catch(() => {})
      await this.#readOn()
    }
    this.#watching = false
  }

  async #meet(wanted: (turn: string) => boolean): Promise<void> {
    const { place, io, session } = this.#parts.app()
    for (const peer of await peers(place.home, io.clock)) {
      const turns = (await peer.turns()).filter((one) => one.session === session.id && wanted(one.turn))
      for (const { turn } of turns)
        this.#followed.push({ turn, peer, asks: new Set(), begun: false, heardAt: io.clock.elapsed() })
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
    const { conversation, io } = this.#parts.app()
    const told = new Set<string>(followed.shown)
    const over = new AbortController()
    void this.#watchPeer(followed, AbortSignal.any([over.signal, this.#stop.signal]))
    for await (const event of peer.follow(turn, this.#stop.signal)) {
      followed.heardAt = io.clock.elapsed()
      if (event.type === 'question') asks.add(event.ask)
      if (event.type === 'prompt') followed.owner ??= event.owner
      if (isEntry(event) && told.has(event.id)) {
        seen.see(event)
        continue
      }
      if (isEntry(event)) told.add(event.id)
      await this.#tell(turn, event, seen)
    }
    over.abort()
    // A killed process does not write the end of its turn, and the screen must not show a dead agent as working.
    if (seen.outcome === undefined)
      for (const entry of await this.#untilEnded(turn, conversation))
        if (!told.has(entry.id)) await this.#tell(turn, entry, seen)
    this.#followed = this.#followed.filter((one) => one !== followed)
    if (!this.#followed.some((one) => one.peer === peer)) await peer.close()
    if (!this.#stop.signal.aborted) await this.#close(turn, seen)
  }

  /** Reports when the process of a followed turn is stopped or does not answer, so that no agent is shown as working that is not. */
  async #watchPeer(followed: Followed, over: AbortSignal): Promise<void> {
    const { clock } = this.#parts.app().io
    const { turn, peer } = followed
    for (let told: string | undefined; ;) {
      await clock.sleep(lookMs, over)
      if (over.aborted) return
      if (clock.elapsed() - followed.heardAt < quietMs) continue
      const { owner } = followed
      if (owner === undefined || !isHere(owner) || !isAlive(owner)) continue
      const answers = async () => (await peer.turns()).some((one) => one.turn === turn)
      const words = stoppedWords(owner) ?? ((await answers()) ? undefined : silentWords(owner))
      if (over.aborted) return
      if (words !== undefined && words !== told) await this.#tellWait(turn, words)
      // Any event removes the message again.
      if (words === undefined && told !== undefined)
        await this.#parts.audience.tell({ type: 'event', turn, event: { type: 'state', state: 'busy' } })
      told = words
    }
  }

  /** Waits until the log has the end of the turn; writes the end for a dead process. Returns the entries of the turn. */
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

/** Says how to continue a stopped process; undefined if the process is not stopped. */
function stoppedWords(owner: string): string | undefined {
  const pid = ownerPid(owner)
  return isStopped(owner) ? `its process ${pid} is stopped, and goes on with: kill -CONT ${pid}` : undefined
}

const silentWords = (owner: string) => `its process ${ownerPid(owner)} does not answer`
